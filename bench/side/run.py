"""
Runs one workload on one tool: so many processes at a time, and what they and the server did meanwhile.

Instants are microseconds of CLOCK_MONOTONIC, which all processes of a machine share.
"""

import array
import contextlib
import json
import pathlib
import select
import subprocess
import tempfile
import time

LONGEST = 600  # seconds, of one process on a slow machine
LINGER_US = 250000  # after the time that counts, so that all are still there to be looked at


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


def answer_of(process):
    text, errors = process.communicate(timeout=LONGEST)
    if process.returncode != 0 or not text.strip():
        raise RuntimeError(f'{process.args[0]} ended with {process.returncode}: {errors.decode()[-400:]}')
    return json.loads(text)


def instants_of(path):
    instants = array.array('q')
    if path.exists():
        instants.frombytes(path.read_bytes())
    return instants


def start(tool, plan):
    words = [str(word) for word in tool.command(plan)]
    return subprocess.Popen(words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until_ready(process):
    told = select.select([process.stdout], [], [], LONGEST)[0] and process.stdout.readline()
    if told != b'ready\n':
        process.kill()
        raise RuntimeError(f'{process.args[0]} did not become ready: {process.communicate()[1].decode()[-400:]}')


def run(tool, server, processes, seconds, plan, in_step=None, sleeper=None):
    """A workload that lasts. All processes begin when the last of them is ready, and come into step: these first
    seconds (`in_step` so many, as many as the tool needs else) do not count. A sleeper is run beside them."""
    in_step = in_step or tool.in_step + tool.in_step_each * processes
    server.empty()
    with tempfile.TemporaryDirectory() as folder:
        folder, children = pathlib.Path(folder), []
        try:
            for index, each in enumerate([tool] * processes + [sleeper] * bool(sleeper)):
                own = {'socket': server.socket, 'out': folder / str(index), 'index': index, 'processes': processes}
                children.append(start(each, {**plan, **own, 'together': 1, 'seconds': seconds}))
            for child in children:
                wait_until_ready(child)
            begin_us = now_us() + int(in_step * 1e6)
            result = Run(processes, begin_us, begin_us + int(seconds * 1e6))
            for child in children:
                with contextlib.suppress(BrokenPipeError):  # it has ended: its answer will say why
                    child.stdin.write(f'{begin_us} {result.until_us} {result.until_us + LINGER_US}\n'.encode())
            look_at(result, server, children[:processes])
            result.answers = [answer_of(child) for child in children][:processes]
        finally:
            for child in children:
                child.kill()
                child.wait()
        result.starts = [instants_of(folder / str(index)) for index in range(processes)]
        result.slots = [at for index in range(processes) for at in instants_of(folder / f'{index}.slots')]
        result.beats = result.counts(instants_of(folder / str(processes)))
    return result


def look_at(result, server, workers):
    """What the server and the workers did within the time that counts."""
    sleep_until(result.begin_us)
    before, cpu = server.figures(), [cpu_of(worker.pid) for worker in workers]
    sleep_until(result.until_us)
    result.cpu_us = [cpu_of(worker.pid) - was for worker, was in zip(workers, cpu)]
    result.server = difference(before, server.figures())


def run_once(tool, server, plan):
    """A workload that ends by itself: its answer, and what the server did."""
    words = [str(word) for word in tool.command({**plan, 'socket': server.socket, 'index': 0, 'processes': 1})]
    before = server.figures()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        answer = answer_of(process)
    return answer, difference(before, server.figures())
