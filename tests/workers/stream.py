"""A stream of jobs on a server of the test's own, and queries about it."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import DEADLINE, WorkPlace, ends, program, tap, told, work_place  # noqa: E402
from redis_server import server  # noqa: E402

KEY = 'takt:jobs:{q}'
DEAD = 'takt:jobs:{q}:dead'
LATE = 10  # seconds, longer than a worker waits for an answer


class Stream:
    """The stream `q`, with workers of it."""

    def __init__(self, here, redis):
        self.here = here
        self.redis = redis

    def tool(self, *arguments, **options):
        return self.here.work('takt-jobs', *arguments, **options)

    def add(self, jobs):
        done = self.tool('add', 'q', input=''.join(json.dumps(job) + '\n' for job in jobs))
        assert done.returncode == 0, told(done)

    def begin(self, name, *arguments, results=None):
        """Starts a worker; with `results` these go into that file."""
        more = ['--results', results] if results else []
        return self.here.begin(name, '--stream', 'q', *more, *arguments)

    def work(self, name, *arguments):
        """A worker that ends when the stream is empty."""
        return self.here.work(name, '--stream', 'q', '--until-empty', *arguments)

    def show(self):
        return json.loads(self.tool('show', '--json', 'q').stdout)

    def dead(self):
        return [json.loads(line) for line in self.tool('dead', '--json', 'q').stdout.splitlines()]

    def until(self, what, holds):
        """Until what `show` says is so."""
        ends.until(lambda: holds(self.show()), lambda: f'never: {what}; {self.show()}')

    def until_reading(self, count):
        """Until so many workers wait for new jobs."""
        ends.until(lambda: f'blocked_clients:{count}\n' in self.redis.say('INFO', 'clients').replace('\r', ''),
                   f'there are never {count} workers that read')

    def results(self, name):
        """The results that are in a file, in their order, but for one that is just being written."""
        path = self.here.path / name
        text = path.read_text(encoding='utf-8') if path.exists() else ''
        return [json.loads(line) for line in text.rpartition('\n')[0].splitlines()]

    def until_results(self, name, count):
        ends.until(lambda: len(self.results(name)) >= count, lambda: f'only {len(self.results(name))} results in {name}')
        return self.results(name)

    def until_slow_result(self, name):
        """Until a job of the limit `slow` is done. An award that comes later than it is waited for, on a machine that is
        held up, has taken the hour's only slot with it: then the limit begins anew."""
        deadline, patient_until = time.monotonic() + DEADLINE, time.monotonic() + LATE
        while not self.results(name):
            if time.monotonic() > deadline:
                raise AssertionError(f'no result in {name}')
            if time.monotonic() > patient_until:
                self.here.takt('reset', 'slow')
                patient_until = time.monotonic() + LATE


@contextlib.contextmanager
def stream(**options):
    with work_place() as here, server(here.path, **options) as redis:
        here.environment['TAKT_STORE'] = redis.url
        yield Stream(here, redis)


def ids(found):
    return sorted(result['id'] for result in found)


__all__ = ['DEAD', 'DEADLINE', 'KEY', 'Stream', 'WorkPlace', 'ids', 'program', 'stream', 'subprocess', 'tap', 'told']
