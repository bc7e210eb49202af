"""Measures the time of slicing over the size of programs: generates and slices programs of growing size, and fits a power law."""

import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLANG = ["clang-19", "-O0", "-Xclang", "-disable-O0-optnone", "-g", "-w", "-c", "-emit-llvm"]


def run(options):
    from .slicing import load, slice_best

    cache = options.cache or Path(tempfile.mkdtemp(prefix="bench-slicer-"))
    cache.mkdir(parents=True, exist_ok=True)
    sizes = [int(s) for s in options.sizes.split(",")]
    if options.copies_of:
        program = next(p for p in load(options.programs) if options.copies_of.lower() in p["name"].lower())
        unit = Copies(cache, program)
        criterion = options.criterion or program["criteria"][0]
    else:
        unit = Random(cache)
        criterion = options.criterion or "result"
    points = []
    print(f"{'instructions':>12} {'kept':>10} {'slicing/s':>10} {'MB':>6}")
    for size in sizes:
        found = slice_best(options, [unit.program(size)], criterion)
        if not found:
            print(f"{size:>12} gave no slice", file=sys.stderr)
            continue
        before, after = (found[k]["size"]["instructions"] for k in ("before", "after"))
        if points and before <= points[-1][0]:
            continue
        points.append((before, found["slicing"], found["phases"]))
        print(f"{before:>12} {after:>10} {found['slicing']:>10.3f} {found['peak_memory_mb']:>6}", flush=True)
    if len(points) < 2:
        return 1
    exponent, factor = fit([(x, y) for x, y, _ in points])
    print(f"time ~ instructions^{exponent:.2f}")
    options.output.write_text(plot(points, exponent, factor, unit.name))
    if not options.cache:
        shutil.rmtree(cache)
    return 0


def check(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: {done.stderr.strip()[-800:]}")


def count(bitcode):
    """Returns the number of instructions in bitcode, without debug intrinsics."""
    text = subprocess.run(["llvm-dis-19", "-o", "-", str(bitcode)], capture_output=True, text=True)
    if text.returncode != 0:
        text = subprocess.run(["opt-19", "-S", "-o", "-", str(bitcode)], capture_output=True, text=True)
    return len(re.findall(r"^  (?!call void @llvm\.dbg)\S", text.stdout, re.M))


class Parts:
    """Creates programs from many parts, each with its own main function, and a main function that calls them."""

    def __init__(self, cache):
        self.cache = cache
        self.parts = []
        self.total = 0

    def program(self, size):
        """Returns bitcode with about this number of instructions."""
        while self.total < size:
            part = self.cache / f"part{len(self.parts)}.bc"
            counted = part.with_suffix(".count")
            if not counted.exists():
                counted.write_text(str(self.part(len(self.parts), part, size - self.total)))
            self.parts.append(part)
            self.total += int(counted.read_text())
        driver, linked = self.cache / "driver.c", self.cache / f"program{len(self.parts)}.bc"
        if linked.exists():
            return linked
        names = [f"main_{i}" for i in range(len(self.parts))]
        driver.write_text(
            "volatile int result;\n"
            + "".join(f"int {name}(int, char **);\n" for name in names)
            + "int main(int argc, char **argv) {\n"
            + "".join(f"  result += {name}(argc, argv);\n" for name in names)
            + "  return result;\n}\n"
        )
        check([*CLANG, driver, "-o", self.cache / "driver.bc"])
        check(["llvm-link-19", self.cache / "driver.bc", *self.parts, "-o", linked])
        return linked

    def keep_main(self, linked, part, number):
        """Hides all symbols of a part but its main function, which gets a unique name."""
        check(["opt-19", "-passes=internalize", f"-internalize-public-api-list=main_{number}", linked, "-o", part])
        return count(part)


class Random(Parts):
    name = "random programs (csmith), the sum of their checksums as criterion"

    def part(self, number, part, wanted):
        """Creates a random program (a small one if few instructions are wanted) whose result is its checksum. Returns its size."""
        small = ["--max-funcs", "3", "--max-block-depth", "2"] if wanted < 4000 else ["--max-funcs", "12"]
        source = self.cache / f"part{number}.c"
        check(["csmith", "--seed", 1000 + number, *small, "--no-argc", "-o", source])
        text = source.read_text()
        text = re.sub(r"platform_main_end\(crc32_context \^ 0xFFFFFFFFUL, print_hash_value\);\s*return 0;",
                      "return (int)crc32_context;", text)
        source.write_text(re.sub(r"int main \(void\)", f"int main_{number}(void)", text))
        check([*CLANG, "-I/usr/include/csmith", source, "-o", part])
        return self.keep_main(part, part, number)


class Copies(Parts):
    def __init__(self, cache, source):
        super().__init__(cache)
        self.source = source
        self.name = f"copies of {source['name']}"

    def part(self, number, part, wanted):
        files = []
        for i, file in enumerate(self.source["files"]):
            out = self.cache / f"unit{i}.bc"
            rename = [f"-Dmain=main_{number}"]
            if number == 0 or "main" in Path(file).read_text(errors="replace"):
                check([*CLANG, *rename, *self.source["clang"], file, "-o", out])
            files.append(out)
        linked = self.cache / "linked.bc"
        check(["llvm-link-19", *files, "-o", linked])
        return self.keep_main(linked, part, number)


def fit(points):
    """Returns the exponent and the factor of the power law that fits the points best (least squares of logarithms)."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(max(y, 1e-4)) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)
    return slope, math.exp(mean_y - slope * mean_x)


COLOURS = {"slicing": "#222222", "points-to": "#c0392b", "mod-ref": "#8e44ad", "graph": "#2471a3", "walk": "#1e8449"}


def plot(points, exponent, factor, title):
    """Draws the points and the fitted line, with logarithmic axes."""
    width, height, left, top, right, bottom = 720, 460, 70, 50, 130, 60
    series = {"slicing": [(x, y) for x, y, _ in points]}
    for phase in points[0][2]:
        series[phase] = [(x, phases[phase]) for x, _, phases in points if phases[phase] >= 1e-3]
    low_x, high_x = math.floor(math.log10(points[0][0])), math.ceil(math.log10(points[-1][0]))
    times = [y for line in series.values() for _, y in line]
    low_y, high_y = math.floor(math.log10(max(min(times), 1e-3))), math.ceil(math.log10(max(times)))
    high_y = max(high_y, low_y + 1)

    def place(x, y):
        across = (math.log10(x) - low_x) / (high_x - low_x)
        up = (math.log10(max(y, 10**low_y)) - low_y) / (high_y - low_y)
        return left + across * (width - left - right), height - bottom - up * (height - top - bottom)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="24" font-size="15">Slicing {title}: time ~ instructions^{exponent:.2f}</text>',
    ]
    for e in range(low_x, high_x + 1):
        x, y = place(10**e, 10**low_y)
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{10**e:,}</text>')
    for e in range(low_y, high_y + 1):
        x, y = place(10**low_x, 10.0**e)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{10.0**e:g} s</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 14}" text-anchor="middle">instructions</text>')
    ends = [place(x, factor * x**exponent) for x in (points[0][0], points[-1][0])]
    out.append('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#222222" stroke-dasharray="6 4"/>'.format(*ends[0], *ends[1]))
    for i, (name, line) in enumerate(series.items()):
        colour = COLOURS[name]
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line)
        thick = 2 if name == "slicing" else 1
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>')
        out += ['<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>'.format(*place(x, y), colour) for x, y in line]
        out.append(f'<text x="{width - right + 14}" y="{top + 16 + 20 * i}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])
