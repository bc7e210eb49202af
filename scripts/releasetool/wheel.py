"""Creates the Python package: the contents of the archive with a Python API."""

import base64
import hashlib
import os
import time
import zipfile
from pathlib import Path

TAG = "py3-none-manylinux_2_36_x86_64"  # 2.36 is the version of the C library in Debian 12


def make(release, sources, out, version, epoch):
    """Writes a wheel (PEP 427). Its entries contain the file modes, from which pip takes the executable bit."""
    info = f"proviso-{version}.dist-info"
    files = {f"proviso/{f.name}": (f.read_bytes(), False) for f in sources.iterdir() if f.suffix in (".py", ".typed") or f.name == "py.typed"}
    for path in sorted(release.rglob("*")):
        if path.is_file():
            # A wheel cannot contain links. The link `proviso-batch` is not needed: the package runs lib/proviso/batch directly.
            name = path.relative_to(release)
            if path.is_symlink():
                continue
            files[f"proviso/release/{name}"] = (path.read_bytes(), os.access(path, os.X_OK))
    files[f"{info}/METADATA"] = (metadata(version, release).encode(), False)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: scripts/release\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(), False)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nproviso = proviso.__main__:main\nproviso-batch = proviso.__main__:batch\n", False)
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, (content, _) in sorted(files.items()))
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), False)
    path = out / f"proviso-{version}-{TAG}.whl"
    new = path.with_name(path.name + ".new")
    when = time.gmtime(max(epoch, 315532800))[:6]  # zip has no time before 1980
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, executable) in sorted(files.items(), key=lambda f: (".dist-info/" in f[0], f[0])):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    os.replace(new, path)
    return Path(path)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def metadata(version, release):
    readme = (release / "share/doc/proviso/README.md").read_text(encoding="utf-8")
    return (
        f"Metadata-Version: 2.1\nName: proviso\nVersion: {version}\nSummary: A verifier for C programs\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\nClassifier: Topic :: Software Development :: Quality Assurance\nClassifier: Typing :: Typed\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )
