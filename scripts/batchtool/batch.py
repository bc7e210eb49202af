"""A batch: tasks that have no result yet are run, here or on a cluster, and what comes out goes into the result file."""

import sys
import threading
import time
from collections import Counter, deque

from . import cluster, command, processes, report, runner
from .ranges import Divided, Step
from .verdict import judge

WAIT = 0.5  # seconds between looks whether another batch is done with a task


class Work:
    """The tasks of this batch that have no result yet. Each is given out once, as a whole or by steps, under a claim that others
    respect, and comes back with a result or not."""

    def __init__(self, ledger, tasks, progress, plan=None):
        self.ledger, self.progress, self.plan = ledger, progress, plan
        self.queue, self.elsewhere = deque(tasks), deque()
        self.divided, self.steps = {}, deque()  # tasks in ranges that are at work, by key; steps of theirs to run
        self.changed = threading.Condition()
        self.driver_known = ledger.driver is not None

    def next(self):
        """A step to run now, or None: there is none, or others run what is left (`is_over` tells)."""
        with self.changed:
            while True:
                if self.steps:
                    step = self.steps.popleft()
                    if not self.is_decided(step):
                        return step
                    continue
                task = self.next_task()
                if task is None or not self.plan:
                    return task and Step(task)
                self.divided[task.key] = divided = Divided(task, self.plan, self.ledger.steps.get(task.key, []))
                self.go_on(task, *divided.start())

    def next_task(self):
        for _ in range(len(self.queue) + len(self.elsewhere)):
            task = self.queue.popleft() if self.queue else self.elsewhere.popleft()
            if not self.ledger.claim(task.key):
                self.elsewhere.append(task)
                if not self.queue:
                    return None
                continue
            self.ledger.catch_up()
            if task.key in self.ledger.finished:
                self.ledger.release(task.key)
                self.progress.add(self.ledger.finished[task.key])
                continue
            return task
        return None

    def is_over(self):
        return not self.queue and not self.elsewhere and not self.divided

    def is_decided(self, step):
        """Whether nobody needs the result of this step any more: another range has shown a violation."""
        return bool(step.name) and step.task.key not in self.divided

    def wait(self):
        """Waits until there may be something to do."""
        with self.changed:
            if not self.steps and not self.is_over():
                self.changed.wait(WAIT)

    def put(self, step, result):
        """The result, or None where there is none: the step was interrupted."""
        with self.changed:
            divided = self.divided.get(step.task.key)
            if self.is_decided(step):
                return
            if result is not None:
                driver = result.pop("driver", None)
                if driver and not self.driver_known:
                    self.driver_known = True
                    self.ledger.add({"driver": driver})
            if divided is None or result is None:
                self.divided.pop(step.task.key, None)
                self.finish(step.task, result)
                return
            if step.name:
                self.ledger.add(divided.recorded(step, result))
            self.go_on(step.task, *divided.put(step, result))

    def go_on(self, task, steps, result):
        self.steps.extend(steps)
        if result is not None:
            del self.divided[task.key]
            result["status"] = judge(result["verdict"], task)
            self.finish(task, result)
        self.changed.notify_all()

    def finish(self, task, result):
        if result is not None:
            self.ledger.add(result)
            self.progress.add(result)
        self.ledger.release(task.key)
        self.changed.notify_all()


class Either:
    """Whether a step is to end: all are, or its result is not needed."""

    def __init__(self, stop, work, step):
        self.stop, self.work, self.step = stop, work, step

    def is_set(self):
        return self.stop.is_set() or self.work.is_decided(self.step)


def run(work, tool, jobs, address):
    """Everything that is to be done; raises what went wrong, KeyboardInterrupt included."""
    processes.sweep()
    processes.environment()
    if address:
        cluster.run(work, tool, address)
    else:
        on_this_machine(work, tool, jobs)


def on_this_machine(work, tool, jobs):
    def loop(stop):
        while not stop.is_set():
            step = work.next()
            if step is not None:
                work.put(step, command.run(step, tool, Either(stop, work, step)))
            elif work.is_over():
                return
            else:
                work.wait()

    runner.in_threads(loop, jobs)


class Progress:
    """One line that is rewritten on a terminal; now and then a line elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.said = total, 0, Counter()
        self.start = self.last = time.monotonic()

    def add(self, result):
        self.done += 1
        self.said[report.kind(result)] += 1
        tty = sys.stderr.isatty()
        clear = "\r\033[K" if tty else ""
        if result["status"] in report.WRONG or report.is_violation(result) or not result["verdict"]:
            wrong = "WRONG " if result["status"] in report.WRONG else ""
            print(f"{clear}{result['task']} {result['property']}: {wrong}{result['verdict'] or result['reason']}", file=sys.stderr)
        now = time.monotonic()
        if self.done < self.total and now - self.last < (0.1 if tty else 60):
            return
        self.last = now
        left = (now - self.start) / self.done * (self.total - self.done)
        counts = ", ".join(f"{kind} {self.said[kind]}" for kind in report.KINDS if self.said[kind])
        line = f"[{self.done}/{self.total}] {counts}; {duration(left)} left"
        end = "" if tty and self.done < self.total else "\n"
        print(clear + line, end=end, file=sys.stderr, flush=True)


def duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
