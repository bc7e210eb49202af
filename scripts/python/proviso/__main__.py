"""The entry points of the commands `proviso` and `proviso-batch`."""

import os
import sys

from .api import executable


def main() -> None:
    command = str(executable())
    os.execv(command, [command, *sys.argv[1:]])


def batch() -> None:
    script = executable().parents[1] / "lib" / "proviso" / "batch"
    os.execv(sys.executable, [sys.executable, str(script), *sys.argv[1:]])


if __name__ == "__main__":
    main()
