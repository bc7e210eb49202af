"""The entry points of the commands `proviso` and `proviso-batch`."""

import os
import sys
from pathlib import Path

from .api import ProvisoError, executable


def main() -> None:
    command = str(found())
    os.execv(command, [command, *sys.argv[1:]])


def found() -> Path:
    """Returns the path of the command, or ends with its exit code and a message."""
    try:
        return executable()
    except ProvisoError as error:
        print(f"proviso: error: {error}", file=sys.stderr)
        sys.exit(error.code)


def batch() -> None:
    released = found().parents[1] / "lib" / "proviso" / "batch"
    script = released if released.is_file() else Path(__file__).resolve().parents[2] / "batch"
    os.execv(sys.executable, [sys.executable, str(script), *sys.argv[1:]])


if __name__ == "__main__":
    main()
