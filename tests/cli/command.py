"""
The command `takt` as the tests of this folder use it: in a folder of its own, with a store of its own. Waiting is for
events (a line of output, the end of a process); the deadlines are only there so that a hang fails instead of hanging.
"""

import contextlib
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402
from ends import DEADLINE  # noqa: E402

# Starts a process that forks its successor and ends, on and on, deaf to SIGTERM; tells that it runs, and goes to sleep.
# It ends by itself some time after a test that was killed.
FORKS = '''
import os, signal, time
over = time.monotonic() + 600
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    while time.monotonic() < over:
        if os.fork():
            os._exit(0)
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
print('runs', flush=True)
signal.pause()
'''

TAKT = os.environ.get('TAKT_COMMAND') or str(pathlib.Path(__file__).resolve().parents[2] / 'build/cli/takt')
SOURCE = pathlib.Path(os.environ.get('TAKT_SOURCE') or pathlib.Path(__file__).resolve().parents[2])


class Place:
    """A scratch folder in which commands run, with a store in it."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder)
        self.started = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith('TAKT_')}
        self.environment.update(TAKT_STORE=f'file:{folder}/store/', HOME=str(folder), TERM='dumb')
        (self.path / 'store').mkdir()

    def write(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        (self.path / name).write_bytes(data)
        return str(self.path / name)

    def read(self, name):
        return (self.path / name).read_text(encoding='utf-8')

    def records(self, name, event):
        """The records of one kind in a log of `takt map`."""
        records = [json.loads(line) for line in self.read(name).splitlines()]
        return [record for record in records if record['event'] == event]

    def takt(self, *arguments, **options):
        """Runs `takt` to its end; its output is text."""
        settings = {'env': self.environment, 'cwd': self.path, 'text': True, 'capture_output': True, **options}
        if 'input' not in settings:
            settings.setdefault('stdin', subprocess.DEVNULL)
        return ends.run([TAKT, *map(str, arguments)], **settings)

    def start(self, *arguments, **options):
        """Starts `takt`; its output and its messages can be waited for with until()."""
        settings = {'env': self.environment, 'cwd': self.path, 'stdin': subprocess.DEVNULL,
                    'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options}
        process = subprocess.Popen([TAKT, *map(str, arguments)], **settings)  # pylint: disable=consider-using-with
        self.started.append(process)
        return process

    def fifo(self, name):
        os.mkfifo(self.path / name)
        return str(self.path / name)

    def open_gate(self, name):
        """Lets the `cat` that reads the FIFO end, once it is there."""
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                os.close(os.open(self.path / name, os.O_WRONLY | os.O_NONBLOCK))
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise

    def stop_all(self):
        """What a failed test left running. Two signals end a map and its jobs."""
        for process in self.started:
            for _ in range(2):
                if process.poll() is None:
                    process.terminate()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=3)
            process.kill()


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory() as folder:
        here = Place(folder)
        try:
            with ends.naming():
                yield here
        finally:
            here.stop_all()


def until(fd, words, got=b''):
    """Reads the descriptor until `words` were read; returns everything read, or fails."""
    deadline = time.monotonic() + DEADLINE
    while words not in got:
        ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f'waited for {words!r}, but there is only {got!r} from\n{ends.named(ends.holders([fd]))}')
        try:
            data = os.read(fd, 65536)
        except OSError:  # how a terminal ends
            data = b''
        if not data:
            raise AssertionError(f'waited for {words!r}, but it ended after {got!r}')
        got += data
    return got


def until_waiting(here, limit, count):
    """Until so many wait in the fleet."""
    ends.until(lambda: json.loads(here.takt('peek', '--json', *limit).stdout)['waiting'] == count,
               f'there are never {count} waiting')


def end(process):
    """Waits for the end of a process that start() started: status, output, messages."""
    output, messages = ends.communicate(process)
    return process.returncode, (output or b'').decode(), (messages or b'').decode()


def told(done):
    """Everything about a finished command, for a failed check."""
    return f'ended with {done.returncode}\n{done.stdout}\n{done.stderr}'


def over_quota(slots, tokens, period_us, burst):
    """The first stretch of slots that holds more than burst + t / interval; None: the quota was kept."""
    slots = sorted(slots)
    for first, start in enumerate(slots):
        for last in range(first, len(slots)):
            if (last - first + 1 - burst) * period_us > (slots[last] - start) * tokens:
                return f'{last - first + 1} slots in {slots[last] - start} us'
    return None


def run(*parts):
    """Each part in a place of its own; all of them, or those that the command line names."""
    report = tap.Report()
    for part in [part for part in parts if part.__name__ in sys.argv[1:]] or parts:
        with place() as here:
            part(report, here)
    report.end()


__all__ = ['DEADLINE', 'SOURCE', 'TAKT', 'Place', 'end', 'ends', 'over_quota', 'place', 'run', 'tap', 'told', 'until',
           'until_waiting']
