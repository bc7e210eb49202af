"""Creates reproducible archives: their bytes depend only on the files and the given time."""

import lzma
import os
import tarfile


class ReleaseError(Exception):
    """The release cannot be created, or its test fails."""


def tar(folder, path, epoch, preset=6):
    """Writes a folder as a compressed archive, with sorted entries, the same time for all of them, and no owner."""

    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = epoch
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info

    new = path.with_name(path.name + ".new")
    with lzma.open(new, "wb", preset=preset) as compressed, tarfile.open(fileobj=compressed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for entry in [folder, *sorted(folder.rglob("*"))]:
            archive.add(entry, arcname=str(entry.relative_to(folder.parent)), recursive=False, filter=plain)
    os.replace(new, path)
    return path


def differences(*archives):
    """Returns the names of the entries that differ between two archives."""
    contents = []
    for path in archives:
        with tarfile.open(path) as archive:
            contents.append({m.name: (m.mode, m.mtime, m.linkname, m.isfile() and archive.extractfile(m).read()) for m in archive})
    first, second = contents
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
