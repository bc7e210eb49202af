"""Runs a batch: the tasks without a result, on this machine or on a cluster, and writes the results to the result file."""

import sys
import threading
import time
from collections import Counter, deque

from . import cluster, command, processes, report, runner
from .ranges import Divided, Step
from .verdict import judge

WAIT = 0.5  # seconds between two checks whether another batch has finished a task


class Work:
    """The tasks of this batch without a result. `next` hands out each task once, as a whole or as steps, and locks it against
    other batches until `put` receives its result."""

    def __init__(self, ledger, tasks, progress, plan=None):
        self.ledger, self.progress, self.plan = ledger, progress, plan
        self.queue, self.elsewhere = deque(tasks), deque()
        self.divided, self.steps = {}, deque()  # the running tasks with ranges, by key; the steps of these tasks to run
        self.changed = threading.Condition()
        self.driver_known = ledger.driver is not None

    def next(self):
        """Returns a step to run now. None: no task is left (`is_over`), or other batches or threads run the tasks that are left."""
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
        """Returns whether the result of this step is not needed any more, because another range contains a violation."""
        return bool(step.name) and step.task.key not in self.divided

    def wait(self):
        """Waits until a step may be available."""
        with self.changed:
            if not self.steps and not self.is_over():
                self.changed.wait(WAIT)

    def put(self, step, result):
        """Receives the result of a step, or None if the step was interrupted."""
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
                self.ledger.add(divided.recorded(step, result) | {"content": step.task.content})
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
            result["content"] = task.content
            self.ledger.add(result)
            self.progress.add(result)
        self.ledger.release(task.key)
        self.changed.notify_all()


class Either:
    """An event that tells a step to end: the batch ends, or the result of the step is not needed."""

    def __init__(self, stop, work, step):
        self.stop, self.work, self.step = stop, work, step

    def is_set(self):
        return self.stop.is_set() or self.work.is_decided(self.step)


def run(work, tool, jobs, address):
    """Runs all steps. Raises the exceptions of the threads, including KeyboardInterrupt."""
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
    """Prints the progress: one line that is overwritten on a terminal, or a line every minute elsewhere."""

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
