"""
Runs one workload on one tool: so many processes at a time, and what they and the server did meanwhile.

Instants are microseconds of CLOCK_MONOTONIC, which all processes of a machine share.
"""

import array
import json
import pathlib
import subprocess
import tempfile
import time


def now_us():
    return time.monotonic_ns() // 1000


def sleep_until(at_us):
    time.sleep(max(0, (at_us - now_us()) / 1e6))


def cpu_of(pid):
    """Processor time of a process and its threads, in us."""
    total = 0
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        total += int((task / 'schedstat').read_text().split()[0])
    return total / 1000


class Run:
    """What came of it: `answers` of the processes, `starts` of each, and `server` and `cpu_us` within the time that
    counts."""

    def __init__(self, processes, begin_us, until_us):
        self.processes, self.begin_us, self.until_us = processes, begin_us, until_us
        self.answers, self.starts, self.server, self.cpu_us = [], [], {}, []

    def counted(self):
        """The instants of all processes in the time that counts, sorted."""
        return sorted(at for starts in self.starts for at in starts if self.begin_us <= at < self.until_us)

    def shares(self):
        return [sum(self.begin_us <= at < self.until_us for at in starts) for starts in self.starts]


def difference(before, after):
    return {name: after[name] - before[name] for name in after}


def answer_of(process, words):
    text, errors = process.communicate(timeout=120)
    if process.returncode != 0 or not text.strip():
        raise RuntimeError(f'{words[0]} ended with {process.returncode}: {errors.decode()[-400:]}')
    return json.loads(text)


def run(tool, server, processes, seconds, plan, warm_up=None):
    """A workload that lasts. The first seconds, while the processes start and come into step, do not count."""
    if warm_up is None:
        warm_up = tool.warm_up + 0.1 * processes
    begin_us = now_us() + int(warm_up * 1e6)
    until_us = begin_us + int(seconds * 1e6)
    result = Run(processes, begin_us, until_us)
    server.empty()
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for index in range(processes):
            own = {**plan, 'socket': server.socket, 'out': f'{folder}/{index}', 'index': index, 'processes': processes,
                   'begin_us': begin_us, 'end_us': until_us + 200000}
            words = [str(word) for word in tool.command(own)]
            children.append((subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE), words))
        try:
            sleep_until(begin_us)
            before, cpu = server.figures(), [cpu_of(child.pid) for child, _ in children]
            sleep_until(until_us)
            result.cpu_us = [cpu_of(child.pid) - was for (child, _), was in zip(children, cpu)]
            result.server = difference(before, server.figures())
            result.answers = [answer_of(*child) for child in children]
        finally:
            for child, _ in children:
                child.kill()
                child.wait()
        for index in range(processes):
            starts = array.array('q')
            starts.frombytes(pathlib.Path(f'{folder}/{index}').read_bytes())
            result.starts.append(starts)
    return result


def run_once(tool, server, plan):
    """A workload that ends by itself: its answer, and what the server did."""
    words = [str(word) for word in tool.command({**plan, 'socket': server.socket, 'index': 0, 'processes': 1})]
    before = server.figures()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        answer = answer_of(process, words)
    return answer, difference(before, server.figures())
