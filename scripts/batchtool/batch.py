"""A batch: tasks that have no result yet are run, here or on a cluster, and what comes out goes into the result file."""

import sys
import threading
import time
from collections import Counter, deque

from . import cluster, command, processes, report

WAIT = 0.5  # seconds between looks whether another batch is done with a task


class Work:
    """The tasks of this batch that have no result yet. Each is given out once, under a claim that others respect, and comes
    back with a result or not."""

    def __init__(self, ledger, tasks, progress):
        self.ledger, self.progress = ledger, progress
        self.queue, self.elsewhere = deque(tasks), deque()
        self.mutex = threading.RLock()
        self.driver_known = ledger.driver is not None

    def next(self):
        """A task to run now, or None: there is none, or others run what is left (`is_over` tells)."""
        with self.mutex:
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
        return not self.queue and not self.elsewhere

    def put(self, task, result):
        """The result, or None where there is none: the task was interrupted."""
        with self.mutex:
            if result is not None:
                driver = result.pop("driver", None)
                if driver and not self.driver_known:
                    self.driver_known = True
                    self.ledger.add({"driver": driver})
                self.ledger.add(result)
                self.progress.add(result)
            self.ledger.release(task.key)


def run(work, tool, jobs, address):
    """Everything that is to be done; raises what went wrong, KeyboardInterrupt included."""
    processes.sweep()
    processes.environment()
    if address:
        cluster.run(work, tool, address)
    else:
        on_this_machine(work, tool, jobs)


def on_this_machine(work, tool, jobs):
    stop, failures = threading.Event(), []

    def loop():
        try:
            while not stop.is_set():
                task = work.next()
                if task is None:
                    if work.is_over():
                        return
                    stop.wait(WAIT)
                    continue
                work.put(task, command.run(task, tool, stop))
        except BaseException as error:  # handed to the main thread
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=loop) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]


class Progress:
    """One line that is rewritten on a terminal; now and then a line elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.status = total, 0, Counter()
        self.start = self.last = time.monotonic()

    def add(self, result):
        self.done += 1
        self.status[result["status"]] += 1
        tty = sys.stderr.isatty()
        clear = "\r\033[K" if tty else ""
        if result["status"] in report.WRONG or report.is_crash(result):
            what = "WRONG " + result["verdict"] if result["verdict"] else result["reason"]
            print(f"{clear}{result['task']} {result['property']}: {what}", file=sys.stderr)
        now = time.monotonic()
        if self.done < self.total and now - self.last < (0.1 if tty else 60):
            return
        self.last = now
        left = (now - self.start) / self.done * (self.total - self.done)
        s = self.status
        line = (
            f"[{self.done}/{self.total}] true {s['correct-true']}, false {s['correct-false']}, "
            f"wrong {s['wrong-true'] + s['wrong-false']}, unlabelled {s['unjudged']}, unknown {s['unknown']}, "
            f"none {s['error']}; {duration(left)} left"
        )
        end = "" if tty and self.done < self.total else "\n"
        print(clear + line, end=end, file=sys.stderr, flush=True)


def duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
