"""Creates the folder with the files of a release."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from . import smoke
from .pack import ReleaseError

# Libraries that each system with clang-19 has.
OF_THE_SYSTEM = {
    "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1",
    "libz.so.1", "libzstd.so.1",
}
# Debian's copyright files for the libraries that are linked into the binary or lie next to it.
COPYRIGHTS = {
    "LLVM": "/usr/share/doc/libllvm19/copyright",
    "GMP": "/usr/share/doc/libgmp10/copyright",
    "CaDiCaL": "/usr/share/doc/libcadical-dev/copyright",
    "symfpu": "/usr/share/doc/libsymfpu-dev/copyright",
}
Z3 = """\
Z3, Copyright (c) Microsoft Corporation. All rights reserved.

MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED *AS IS*, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
COMPLETIONS = {
    "bash": "share/bash-completion/completions/proviso",
    "zsh": "share/zsh/site-functions/_proviso",
    "fish": "share/fish/vendor_completions.d/proviso.fish",
}


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def version(binary):
    return output(binary, "--version").split()[1]


def make(release, binary, root):
    """Fills the folder."""
    for folder in ("bin", "lib/proviso", "share/man/man1", "share/proviso", "share/doc/proviso/licences"):
        (release / folder).mkdir(parents=True)
    command = release / "bin" / "proviso"
    shutil.copy(binary, command)
    subprocess.run(["strip", "--strip-unneeded", command], check=True)
    for library in libraries(binary):
        shutil.copy(library, release / "lib" / library.name)
    text(release / "share/man/man1/proviso.1", output(command, "man"))
    for shell, path in COMPLETIONS.items():
        text(release / path, output(command, "completions", shell))
    scripts = root / "scripts"
    shutil.copy(scripts / "batch", release / "lib/proviso/batch")
    (release / "bin/proviso-batch").symlink_to("../lib/proviso/batch")
    copy(scripts / "batchtool", release / "lib/proviso/batchtool", "*.py", "*.js", "*.css", "*.html", "*.txt")
    shutil.copytree(scripts / "ci", release / "share/proviso/ci")
    text(release / "smoketest.sh", smoke.SCRIPT)
    (release / "smoketest.sh").chmod(0o755)
    for folder in ("", "tools_proviso"):
        copy(scripts / "benchexec" / folder, release / "share/proviso/benchexec" / folder, "*.py", "*.xml")
    copy(root / "frontend-llvm/models", release / "share/proviso/models", "*.c", "*.h")
    copy(root / "tests/examples", release / "share/proviso/examples", "*.c")
    for name in ("README.md", "LIMITATIONS.md"):
        shutil.copy(root / name, release / "share/doc/proviso")
    copy(root / "docs", release / "share/doc/proviso/docs", "*.md")
    licences(release / "share/doc/proviso/licences", root)


def libraries(binary):
    """Returns the shared libraries that the binary needs and that a system may lack."""
    found = []
    for line in output("ldd", binary).splitlines():
        name, _, rest = line.strip().partition(" => ")
        name = Path(name.split(" ")[0]).name
        if "not found" in rest:
            raise ReleaseError(f"{binary} needs {name}, which is not installed")
        if rest and name not in OF_THE_SYSTEM:
            found.append(Path(rest.split(" ")[0]))
    unexpected = [f.name for f in found if not re.match(r"lib(z3|gmp)\.so", f.name)]
    if unexpected:
        raise ReleaseError(f"{binary} needs {', '.join(unexpected)}: it was not built with the feature static-llvm")
    return found


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def copy(source, target, *patterns):
    target.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        for file in source.glob(pattern):
            if file.is_file():
                shutil.copy(file, target / file.name)


def licences(folder, root):
    """Writes the licences of Proviso, of the libraries and of the linked crates."""
    shutil.copy("/usr/share/common-licenses/Apache-2.0", folder / "Proviso")
    text(folder / "Z3", Z3)
    shutil.copy(root / ".deps/bitwuzla/COPYING", folder / "Bitwuzla")
    for name, path in COPYRIGHTS.items():
        shutil.copy(path, folder / name)
    for file in (root / "proviso/src/html/vendor").glob("*.LICENSE"):
        shutil.copy(file, folder / file.stem)
    packages = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", root / "Cargo.toml", "--filter-platform", "x86_64-unknown-linux-gnu"))
    by_id = {p["id"]: p for p in packages["packages"]}
    nodes = {n["id"]: n for n in packages["resolve"]["nodes"]}
    parts = []
    for package in sorted(linked(by_id, nodes), key=lambda p: (p["name"], p["version"])):
        sources = Path(package["manifest_path"]).parent
        files = sorted(f for f in sources.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", f.name) and f.is_file())
        own = "\n".join(f"--- {f.name}\n{f.read_text(encoding='utf-8', errors='replace')}" for f in files)
        parts.append(f"{package['name']} {package['version']}: {package['license'] or 'see below'}\n{own}")
    text(folder / "Rust-crates", ("\n" + "=" * 100 + "\n").join(parts))


def linked(packages, nodes):
    """Returns the packages from registries that are linked into the command."""
    start = next(i for i, p in packages.items() if p["name"] == "proviso")
    seen, todo = {start}, [start]
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                todo.append(dependency["pkg"])
    return [packages[i] for i in seen if packages[i]["source"]]
