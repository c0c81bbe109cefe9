"""
Workers as the tests of this folder use them: in a folder of their own, with a store and a policy of their own. Waiting
is for events (a line, the end of a process); the deadlines are only there so that a hang fails instead of hanging.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'cli'))
from command import DEADLINE, SOURCE, Place, end, ends, tap, told, until  # noqa: E402

BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')

POLICY = '''limits:
  - name: slow
    rules: [{rate: 1/h}]
  - name: fast
    rules: [{rate: 1000000/s, burst: 100000}]
  - name: single
    concurrency: 1
'''


def program(name):
    """Where the build has put a worker."""
    found = [path for folder in ('workers', 'workers/*', 'tests') for path in BUILD.glob(f'{folder}/{name}')]
    return str(found[0]) if found else name


class WorkPlace(Place):
    """A scratch folder with a policy, in which workers run."""

    def __init__(self, folder):
        super().__init__(folder)
        self.write('takt.yaml', POLICY)

    def jobs(self, name, jobs):
        """A file of jobs; bytes and texts are written as they are."""
        lines = [job if isinstance(job, bytes) else (job if isinstance(job, str) else json.dumps(job)).encode()
                 for job in jobs]
        return self.write(name, b''.join(line + b'\n' for line in lines))

    def work(self, name, *arguments, **options):
        """Runs a worker to its end; its output is text."""
        settings = {'env': self.environment, 'cwd': self.path, 'text': True, 'capture_output': True, **options}
        if 'input' not in settings:
            settings.setdefault('stdin', subprocess.DEVNULL)
        return ends.run([program(name), *map(str, arguments)], **settings)

    def begin(self, name, *arguments, **options):
        """Starts a worker."""
        settings = {'env': self.environment, 'cwd': self.path, 'stdin': subprocess.DEVNULL,
                    'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options}
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [program(name), *map(str, arguments)], **settings)
        self.started.append(process)
        return process

    def peek(self, limit):
        return json.loads(self.takt('peek', '--json', limit).stdout)

    def until_peek(self, limit, **wanted):
        """Until the limit stands like that."""
        ends.until(lambda: wanted.items() <= self.peek(limit).items(), lambda: f'never {wanted}, but {self.peek(limit)}')

    def until_waiting(self, limit, count):
        """Until so many wait in the fleet."""
        self.until_peek(limit, waiting=count)

    def size(self, name):
        """The size; 0 if there is no such file."""
        return (self.path / name).stat().st_size if (self.path / name).exists() else 0

    def until_lines(self, name, count):
        """Until the file has so many lines."""
        ends.until(lambda: self.size(name) and self.read(name).count('\n') >= count,
                   lambda: f'{name} has {self.size(name) and self.read(name)}')

    @staticmethod
    def instant(seconds):
        """So far from now, as a job's deadline says it."""
        return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + seconds))

    def letters(self, name):
        """Lines of JSON."""
        return [json.loads(line) for line in self.read(name).splitlines()]


def results(output):
    """The results in a worker's output, by id."""
    return {result['id']: result for result in map(json.loads, output.splitlines())}


@contextlib.contextmanager
def work_place():
    with tempfile.TemporaryDirectory() as folder:
        here = WorkPlace(folder)
        try:
            with ends.naming():
                yield here
        finally:
            here.stop_all()


__all__ = ['BUILD', 'DEADLINE', 'SOURCE', 'WorkPlace', 'end', 'ends', 'program', 'results', 'tap', 'told', 'until',
           'work_place']
