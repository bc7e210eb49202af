"""The command line of `scripts/attack`."""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from batchtool import runner

from . import claims, judge, lists, mutants, native
from .areas import AREAS
from .program import VECTORS, Program

MUTANTS = 4  # number of mutants of one program

ROOT = Path(__file__).resolve().parent.parent.parent

DESCRIPTION = """\
Tests proviso with random programs whose correct verdict is known. The small C programs have inputs with small domains, and
are compiled natively and run on all inputs. Then proviso verifies assertions about them. A finding is a verdict that
contradicts the native runs, or a crash. --question selects the expected verdict:
  assertions   the assertions hold in all runs
  default      the programs are mutated; sanitizers detect undefined behaviour in the runs
  termination  the programs are mutated; all runs end
  memory       initialisations are removed; MemorySanitizer detects uses of uninitialised values
  lists        programs about lists of any length; proviso must not prove a property that short runs violate

  scripts/attack --count 50                   50 programs, with a seed from the clock
  scripts/attack --seed 7 --count 1           the program with this seed
  scripts/attack --seed 7 --show              prints this program and its correct verdict, without a run of proviso
  scripts/attack --count 2000 --areas floats,text --analyses all
  scripts/attack --count 100 --question default

Each program is verified with the default analysis and with another analysis that its seed determines (--analyses),
sometimes with additional options.

Exit code: 0 no finding, 1 a wrong verdict or a violation that does not reproduce, 2 a crash, 64 wrong usage."""


def parser():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="scripts/attack", description=DESCRIPTION, formatter_class=raw)
    p.add_argument("--seed", type=int, metavar="N", help="the seed of the first program; others have the following seeds (clock)")
    p.add_argument("--count", type=int, default=1, metavar="N", help="number of programs (1)")
    p.add_argument("--seconds", type=float, metavar="SECS", help="start no program after this time")
    p.add_argument("--areas", default=",".join(AREAS), metavar="LIST", help=f"the features of C in the programs ({','.join(AREAS)})")
    p.add_argument("--question", choices=("assertions", "default", "termination", "memory", "lists"), default="assertions", help="the property to verify (assertions)")
    p.add_argument("--only", metavar="NAME", help="only fragments with this name")
    p.add_argument("--analyses", default="one", metavar="LIST", help="analyses in addition to the default: none, one, all, or names")
    p.add_argument("--timeout", type=float, default=10, metavar="SECS", help="the limit for each verification (10)")
    p.add_argument("--proviso", metavar="FILE", help="default: target/release/proviso")
    p.add_argument("--out", metavar="FOLDER", help="the folder for findings (a new folder in /tmp)")
    p.add_argument("--log", metavar="FILE", help="append each verdict as a line of JSON")
    p.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), metavar="N", help="number of programs in parallel")
    p.add_argument("--show", action="store_true", help="only print programs and their correct verdicts")
    return p


def build(seed, areas, only=None):
    """Returns the program of a seed, and the names of its fragments."""
    rng = random.Random(f"{seed}")
    program = Program(rng, 32 if rng.random() < 0.25 else 64)
    made = []
    for _ in range(1 if rng.random() < 0.6 else 2):
        fragments = [f for area in areas for f in AREAS[area]]
        if only:
            fragments = [f for f in fragments if f.__name__ == only]
        # Areas are equally likely, whatever their number of fragments.
        fragment = rng.choice(fragments if only else AREAS[rng.choice(areas)])
        # A fragment with loops uses all values of an input, so it is not combined with others.
        if made and (program.pure or fragment in AREAS["loops"]):
            continue
        fragment(program)
        made.append(f"{fragment.__module__.rpartition('.')[2]}/{fragment.__name__}")
    program.results = program.results[:8]
    return program, made


def answer(way, verdict, wrong):
    return {
        "options": way, "line": verdict.line, "exit": verdict.exit, "wall": round(verdict.wall, 2), "wrong": wrong,
        "stderr": verdict.stderr[-1500:] if wrong else "",
    }  # fmt: skip


class Attack:
    def __init__(self, options, proviso, analyses):
        self.options, self.proviso, self.analyses = options, proviso, analyses
        self.counts, self.unknown, self.findings, self.unfit = Counter(), Counter(), [], Counter()
        self.log = open(options.log, "a") if options.log else None  # noqa: SIM115

    def options_for(self, seed, rng, program):
        """Returns the lists of options with which a program is verified."""
        base = ["--32"] if program.bits == 32 else []
        ways = [base]
        if self.options.analyses == "one":
            ways.append([*base, "--analysis", self.analyses[seed % len(self.analyses)]])
        elif self.options.analyses == "all":
            ways += [[*base, "--analysis", name] for name in self.analyses]
        elif self.options.analyses != "none":
            ways += [[*base, "--analysis", name] for name in self.options.analyses.split(",")]
        extra = rng.choice(([], [], [], ["--slicing", "off"], ["--slicing", "nontermination"], ["--solver", "z3"], ["--jobs", "2"], ["--search", "bfs"]))
        return [[*way, *extra] if n == 1 or len(ways) == 1 else way for n, way in enumerate(ways)]

    def attack(self, seed, stop=None):
        """Creates, runs and verifies the program of a seed. Returns a list of records."""
        if self.options.question == "lists":
            return [self.attack_list(seed)]
        with tempfile.TemporaryDirectory(prefix="attack") as name:
            folder = Path(name)
            program, made = build(seed, self.options.areas.split(","), self.options.only)
            try:
                runs = native.truth(program, folder)
            except native.Unfit as why:
                return [{"seed": seed, "made": made, "unfit": str(why)}]
            if self.options.question != "assertions":
                return self.attack_mutants(seed, program, made, folder, stop)
            rng = random.Random(f"{seed} claims")
            records = []
            for claim in claims.claims(program, runs, rng):
                headers, top, statements = claims.place(claim, rng, program)
                asked = program.copy()
                asked.include(*headers)
                if top:
                    asked.top(top)
                text = f"// seed {seed}: {', '.join(made)}; {claim.kind}: {'TRUE' if claim.holds else 'FALSE'}\n" + asked.render(statements)
                file = folder / "program.c"
                file.write_text(text)
                record = {"seed": seed, "made": made, "claim": claim.kind, "holds": claim.holds, "text": text, "answers": []}
                records.append(record)
                if self.options.show:
                    continue
                for n, way in enumerate(self.options_for(seed, rng, program)):
                    harness = folder / "harness.c"
                    harness.unlink(missing_ok=True)
                    extra = ["--harness", str(harness)] if n == 0 else []
                    verdict = judge.ask(self.proviso, file, judge.ASSERTIONS, way + extra, self.options.timeout)
                    wrong = judge.complaint(verdict, claim.holds)
                    if wrong is None and verdict.answer == "FALSE" and n == 0 and harness.exists():
                        wrong = judge.reproduces(program, file, harness, folder)
                    if wrong and native.reads_uninitialised(program, folder):
                        return [{"seed": seed, "made": made, "unfit": "undefined: reads what was never written"}]
                    record["answers"].append(answer(way, verdict, wrong))
                    if stop is not None and stop.is_set():
                        return records
            return records

    def attack_list(self, seed):
        names = [] if self.options.show else ["shape", "default"] if self.options.analyses == "one" else self.options.analyses.split(",")
        record = lists.attack(seed, self.proviso, names, self.options.timeout)
        record["answers"] = [answer(*a) for a in record.get("answers", ())]
        return record

    def attack_mutants(self, seed, original, made, folder, stop):
        """Does the same for some mutants of a program, with the other questions."""
        rng = random.Random(f"{seed} mutants")
        records, seen = [], set()
        for _ in range(MUTANTS):
            program = original.copy()
            memory = self.options.question == "memory"
            mutants.mutate(program, rng, mutants.FORGOTTEN if memory else mutants.MUTATIONS)
            if program.render([]) in seen or program.vectors() > VECTORS:
                continue
            seen.add(program.render([]))
            try:
                if self.options.question == "default":
                    question, fault = judge.DEFAULT, native.faults(program, folder)
                elif memory:
                    question, fault = judge.MEMORY_CHECK, native.uninitialised(program, folder)
                else:
                    question, fault = judge.TERMINATION, "no end was seen" if native.endless(program, folder) else None
            except native.Unfit as why:
                records.append({"seed": seed, "made": made, "unfit": str(why)})
                continue
            truth = "FALSE: " + fault if fault else "TRUE"
            text = f"// seed {seed}: {', '.join(made)}; {truth}\n" + program.render(native.uses(program) if memory else [f"(void){r};" for r in program.results])
            file = folder / "program.c"
            file.write_text(text)
            record = {"seed": seed, "made": made, "claim": truth, "holds": fault is None, "text": text, "answers": []}
            records.append(record)
            if self.options.show:
                continue
            for n, way in enumerate(self.options_for(seed, rng, program)):
                harness = folder / "harness.c"
                harness.unlink(missing_ok=True)
                extra = ["--harness", str(harness)] if n == 0 and question is judge.DEFAULT else []
                verdict = judge.ask(self.proviso, file, question, way + extra, self.options.timeout)
                wrong = judge.complaint(verdict, fault is None)
                if wrong is None and question is judge.DEFAULT and verdict.answer == "FALSE" and harness.exists():
                    wrong = judge.reproduces(program, file, harness, folder, [*native.SANITIZERS, "-fno-wrapv"])
                # An uninitialised object has an arbitrary value for proviso, but a certain value in a native run.
                if wrong and not memory and native.reads_uninitialised(program, folder):
                    records[-1] = {"seed": seed, "made": made, "unfit": "reads what was never written"}
                    break
                record["answers"].append(answer(way, verdict, wrong))
                if stop is not None and stop.is_set():
                    return records
        return records

    def note(self, seed, records):
        for record in records:
            if self.log:
                self.log.write(json.dumps({k: v for k, v in record.items() if k != "text"}) + "\n")
                self.log.flush()
            if "unfit" in record:
                self.unfit[record["made"][0] + (" + " + record["made"][1] if len(record["made"]) > 1 else "")] += 1
                self.counts["unfit"] += 1
                if self.options.show:
                    print(f"seed {seed}: {record['made']}: unfit: {record['unfit']}")
                continue
            self.counts["programs"] += 1
            self.counts["asked plainly"] += len(record.get("folded", ()))
            self.counts["folded"] += sum(record.get("folded", ()))
            if self.options.show:
                print(record["text"])
            for answer in record["answers"]:
                way = " ".join(answer["options"])
                self.counts["answers"] += 1
                self.counts[answer["line"].split("(")[0]] += 1
                if answer["line"].startswith("UNKNOWN"):
                    which = answer["options"][answer["options"].index("--analysis") + 1] if "--analysis" in answer["options"] else "default"
                    self.unknown[which] += 1
                if answer["wrong"]:
                    self.finding(record, answer, way)

    def finding(self, record, answer, way):
        folder = Path(self.options.out or tempfile.gettempdir()) / ("" if self.options.out else f"attack-{os.getpid()}")
        folder.mkdir(parents=True, exist_ok=True)
        self.options.out = str(folder)
        file = folder / f"{record['seed']}-{'true' if record['holds'] else 'false'}{len(self.findings)}.c"
        file.write_text(record["text"])
        self.findings.append((answer["wrong"], file, way))
        print(f"\n{answer['wrong']}\n  {' '.join(record['made'])}\n  {self.proviso} verify {file} {way}\n  {answer['line']}", flush=True)
        if answer["wrong"].startswith("crash"):
            print("  " + answer["stderr"][-600:].replace("\n", "\n  "), flush=True)


def main(arguments):
    options = parser().parse_args(arguments)
    unknown = set(options.areas.split(",")) - set(AREAS)
    if unknown:
        print(f"attack: no such area: {', '.join(unknown)}", file=sys.stderr)
        return 64
    proviso = options.proviso or str(ROOT / "target/release/proviso")
    if not options.show and not shutil.which(proviso):
        print(f"attack: {proviso} is missing; scripts/setup builds it", file=sys.stderr)
        return 64
    seed = options.seed if options.seed is not None else int(time.time()) % 1_000_000_007
    print(f"seeds {seed} to {seed + options.count - 1}", flush=True)
    analyses = [] if options.show else [a for a in judge.analyses(proviso) if a != "default"]
    attack = Attack(options, proviso, analyses)
    start = time.monotonic()

    def one(seed, stop):
        if options.seconds and time.monotonic() - start > options.seconds:
            return None
        return attack.attack(seed, stop)

    def done(seed, records):
        if records is not None:
            attack.note(seed, records)

    try:
        runner.run_all(range(seed, seed + options.count), one, options.jobs, done)
    except KeyboardInterrupt:
        print("interrupted")
    if options.show:
        return 0
    return report(attack)


def report(attack):
    counts = attack.counts
    print(f"\n{counts['programs']} programs ({counts['unfit']} unfit), {counts['answers']} answers: {counts['TRUE']} TRUE, {counts['FALSE']} FALSE, {counts['UNKNOWN']} UNKNOWN")
    if attack.unknown:
        print("UNKNOWN by analysis: " + ", ".join(f"{name} {n}" for name, n in attack.unknown.most_common()))
    if counts["asked plainly"]:
        print(f"of {counts['asked plainly']} proofs by shape, {counts['folded']} are none of symbolic execution")
    crashes = [f for f in attack.findings if f[0].startswith("crash")]
    print(f"{len(attack.findings) - len(crashes)} wrong, {len(crashes)} crashes")
    for wrong, file, way in attack.findings:
        print(f"  {file} {way}: {wrong}")
    return 2 if crashes and len(crashes) == len(attack.findings) else 1 if attack.findings else 0
