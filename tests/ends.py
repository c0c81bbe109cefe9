"""
Waits for the end of processes, with a deadline. A wait in vain names the processes: a child of a child may hold a pipe
open long after the process for which it was made has ended.
"""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import time

DEADLINE = 300


def told_of(pid):
    """A line about a process: its command, parent and group, and where in the kernel it waits."""
    folder = pathlib.Path('/proc') / str(pid)
    words = (folder / 'cmdline').read_bytes().rstrip(b'\0').replace(b'\0', b' ').decode(errors='replace')
    state, parent, group = (folder / 'stat').read_text(encoding='utf-8').rpartition(')')[2].split()[:3]
    waits = ''
    with contextlib.suppress(OSError):
        waits = (folder / 'wchan').read_text(encoding='utf-8')
    return f'process {pid} ({words}), parent {parent}, group {group}, state {state}, waits in {waits or "?"}'


def holders(fds):
    """The other processes that have one of these pipes open."""
    pipes = set()
    for fd in fds:
        with contextlib.suppress(OSError):
            pipes.add(f'pipe:[{os.fstat(fd).st_ino}]')
    found = []
    for folder in pathlib.Path('/proc').iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if any(os.readlink(link) in pipes for link in (folder / 'fd').iterdir()):
                found.append(int(folder.name))
    return sorted(found)


def named(pids):
    """Lines about processes, for the text of a failure."""
    lines = []
    for pid in pids:
        with contextlib.suppress(OSError):
            lines.append(told_of(pid))
    return '\n'.join(lines) or 'no process'


def below(ancestor):
    """The processes that descend from one."""
    parents = {}
    for folder in pathlib.Path('/proc').iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(folder.name)] = int((folder / 'stat').read_text(encoding='utf-8').rpartition(')')[2].split()[1])
    found = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {ancestor})


@contextlib.contextmanager
def naming():
    """A wait in vain in this context names the processes that then run below this one."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f'{error}\nwhile there were\n{named(below(os.getpid()))}') from error


def give_up(process, deadline):
    """Ends the processes of a wait in vain, and names them."""
    streams = [stream for stream in (process.stdin, process.stdout, process.stderr) if stream and not stream.closed]
    pids = holders([stream.fileno() for stream in streams])
    if process.poll() is None and process.pid not in pids:
        pids.insert(0, process.pid)
    text = f'{process.args!r} has not ended after {deadline} s; it is waited for\n{named(pids)}'
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    raise AssertionError(text)


def communicate(process, given=None, deadline=DEADLINE):
    """Like Popen.communicate: the output of the process until no process has its pipes open."""
    if process.stdin and process.stdin.closed:
        process.stdin = None  # communicate would flush it
    try:
        return process.communicate(given, timeout=deadline)
    except subprocess.TimeoutExpired:
        return give_up(process, deadline)


def wait(process, deadline=DEADLINE):
    """As Popen.wait: the status."""
    try:
        return process.wait(timeout=deadline)
    except subprocess.TimeoutExpired:
        return give_up(process, deadline)


def until(true, what, seconds=DEADLINE):
    """Until something is so, and what that was; `what` is said where it never is, or told by a function. A look is
    often a process: the longer it takes, the fewer looks."""
    end, pause = time.monotonic() + seconds, 0.02
    while not (found := true()):
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(pause)
        pause = min(1.5 * pause, 0.5)
    return found


def line(process, words='', deadline=DEADLINE):
    """The first line of a process's output that has these words; what came before it is dropped."""
    over, said = time.monotonic() + deadline, ''
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0, over - time.monotonic()))
        if not ready:
            return give_up(process, deadline)
        char = os.read(process.stdout.fileno(), 1).decode(errors='replace')  # no more: the rest is the caller's
        said += char
        if not char:
            raise AssertionError(f'{process.args!r} ended without the words {words!r}: {said}')
        if char == '\n':
            if words in said.rpartition('\n')[0].rpartition('\n')[2]:
                return said[:-1].rpartition('\n')[2]


def run(arguments, **options):
    """As subprocess.run, which does not check the status."""
    given, deadline = options.pop('input', None), options.pop('deadline', DEADLINE)
    if options.pop('capture_output', False):
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if given is not None:
        options['stdin'] = subprocess.PIPE
    with subprocess.Popen(arguments, **options) as process:
        output, messages = communicate(process, given, deadline)
        return subprocess.CompletedProcess(arguments, process.returncode, output, messages)
