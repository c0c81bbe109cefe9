"""
Runs one workload on one tool: so many processes at a time, and what they and the server did meanwhile.

Instants are microseconds of CLOCK_MONOTONIC, which all processes of a machine share.
"""

import array
import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

LONGEST = 600  # seconds, of one process on a slow machine
TRIES = 5
LINGER_US = 400000  # after the time that counts, so that all are still there to be looked at
IN_STEP_US = 400000  # from being ready to the time that counts


def now_us():
    return time.monotonic_ns() // 1000


def sleep_until(at_us):
    time.sleep(max(0, (at_us - now_us()) / 1e6))


def cpu_of(pid):
    """Processor time of a process and its threads, in us."""
    total = 0
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # a thread that has ended since
            total += int((task / 'schedstat').read_text().split()[0])
    return total / 1000


class Run:
    """What came of it: `answers` of the processes, `starts` and `slots` of each, `beats` of the one that only sleeps,
    and `server` and `cpu_us` within the time that counts."""

    def __init__(self, processes, begin_us, until_us):
        self.processes, self.begin_us, self.until_us = processes, begin_us, until_us
        self.answers, self.starts, self.slots, self.beats, self.server, self.cpu_us = [], [], [], [], {}, []

    def counts(self, instants):
        """Those in the time that counts."""
        return [at for at in instants if self.begin_us <= at < self.until_us]

    def counted(self):
        """The instants of all processes in the time that counts, sorted."""
        return sorted(at for starts in self.starts for at in self.counts(starts))

    def shares(self):
        return [len(self.counts(starts)) for starts in self.starts]

    def seconds(self):
        return (self.until_us - self.begin_us) / 1e6

    def all(self, name):
        """The sum of what the processes tell."""
        return sum(answer[name] for answer in self.answers)


def difference(before, after):
    return {name: after[name] - before[name] for name in after}


def answer_of(process, words):
    text, errors = process.communicate(timeout=LONGEST)
    if process.returncode != 0 or not text.strip():
        raise RuntimeError(f'{words[0]} ended with {process.returncode}: {errors.decode()[-400:]}')
    return json.loads(text)


def instants_of(path):
    instants = array.array('q')
    if path.exists():
        instants.frombytes(path.read_bytes())
    return instants


def run(tool, server, processes, seconds, plan, least=0, sleeper=None):
    """A workload that lasts. The first seconds (`least` so many), while the processes start and come into step, do not
    count; where that was too short it is run again, and the tool has twice the time from then on. A sleeper is run
    beside them."""
    for _ in range(TRIES):
        warm_up = max(least, tool.patience * (tool.warm_up + tool.warm_up_each * processes))
        result = run_after(warm_up, tool, server, processes, seconds, plan, sleeper)
        if max(answer['ready_us'] for answer in result.answers) < result.begin_us - IN_STEP_US:
            return result
        tool.patience *= 2
    raise RuntimeError(f'the processes were not ready after {warm_up:.0f} s')


def run_after(warm_up, tool, server, processes, seconds, plan, sleeper):
    begin_us = now_us() + int(warm_up * 1e6)
    until_us = begin_us + int(seconds * 1e6)
    result = Run(processes, begin_us, until_us)
    server.empty()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        children = []
        for index, each in enumerate([tool] * processes + [sleeper] * bool(sleeper)):
            own = {**plan, 'socket': server.socket, 'out': folder / str(index), 'index': index, 'processes': processes,
                   'begin_us': begin_us, 'until_us': until_us, 'end_us': until_us + LINGER_US}
            words = [str(word) for word in each.command(own)]
            children.append((subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE), words))
        workers = children[:processes]
        try:
            sleep_until(begin_us)
            before, cpu = server.figures(), [cpu_of(child.pid) for child, _ in workers]
            sleep_until(until_us)
            result.cpu_us = [cpu_of(child.pid) - was for (child, _), was in zip(workers, cpu)]
            result.server = difference(before, server.figures())
            result.answers = [answer_of(*child) for child in children][:processes]
        finally:
            for child, _ in children:
                child.kill()
                child.wait()
        result.starts = [instants_of(folder / str(index)) for index in range(processes)]
        result.slots = [at for index in range(processes) for at in instants_of(folder / f'{index}.slots')]
        result.beats = result.counts(instants_of(folder / str(processes)))
    return result


def run_once(tool, server, plan):
    """A workload that ends by itself: its answer, and what the server did."""
    words = [str(word) for word in tool.command({**plan, 'socket': server.socket, 'index': 0, 'processes': 1})]
    before = server.figures()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        answer = answer_of(process, words)
    return answer, difference(before, server.figures())
