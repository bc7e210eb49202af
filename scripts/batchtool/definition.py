"""Run definitions: a TOML file with the tasks and options of one or more runs. Options on the command line
override them.

    tasks = ["sets/Loops.set", "tasks/"]     # relative to this file
    timeout = 60                             # any option of `batch run`, with _ for -
    property = ["unreach-call"]
    out = "results"                          # a folder; a file NAME.jsonl for each run

    [[run]]
    name = "default"

    [[run]]
    name = "value"
    timeout = 10                             # overrides the value above
    options = ["--analysis", "value"]        # options of the verifier
"""

import tomllib
from pathlib import Path

from .tasks import TaskError

FILES = ("tasks", "index", "proviso", "only", "cache")


def arguments(path):
    """Returns (name, command line of `batch run`, options of the verifier) for each run."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: {error}") from error
    runs = data.pop("run", [{"name": path.stem}])
    if not isinstance(runs, list) or not all(isinstance(run, dict) and isinstance(run.get("name"), str) for run in runs):
        raise TaskError(f"{path}: each [[run]] needs a name")
    if len({run["name"] for run in runs}) < len(runs):
        raise TaskError(f"{path}: two runs have the same name")
    out = path.parent / data.pop("out", path.stem + ".results")
    made = []
    for run in runs:
        settings = {**data, **run}
        name = settings.pop("name")
        passed_on = settings.pop("options", [])
        words = ["--out", str(out / f"{name}.jsonl")]
        for key, value in settings.items():
            words += option(path, key, value)
        made.append((name, words, list(map(str, passed_on))))
    return made


def option(path, key, value):
    if key in FILES:
        values = value if isinstance(value, list) else [value]
        value = [str(path.parent / Path(v).expanduser()) for v in values]
    if key == "tasks":
        return value
    name = "--" + key.replace("_", "-")
    if isinstance(value, bool):
        return [name] if value else []
    return [word for v in (value if isinstance(value, list) else [value]) for word in (name, str(v))]
