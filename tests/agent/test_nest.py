#!/usr/bin/env python3
"""
Nested limits in programs behind a real agent, over the file store and over Redis: by the store's slots no rule of any
level is broken, also after a block of the outer limit, and permits of both levels come together.
"""

import contextlib
import pathlib
import signal
import subprocess
import sys

from agent import agent_place, end, ends, tap, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis_server  # noqa: E402  pylint: disable=wrong-import-position

POLICY = '''limits:
  - {name: domain, rules: [{rate: 5/s}], within: smtp}
  - {name: smtp, rules: [{rate: 50/s}]}
  - {name: site, concurrency: 2, within: all}
  - {name: all, concurrency: 3}
'''
JOBS = 6  # of each program
INNER_US, OUTER_US = 200000, 20000


def starts_map(here, key, name):
    """A program with jobs of one domain; it tells each start."""
    here.write(f'{name}.in', ''.join(f'{i}\n' for i in range(JOBS)))
    return here.start('map', '--store', f'agent:{here.socket}', '--log', f'{name}.log', '-i', f'{name}.in',
                      f'domain:{key}', '--', 'echo', 'started')


def slots(here, *names):
    return sorted(record['slot_us'] for name in names for record in here.records(f'{name}.log', 'start'))


def least_gap(times):
    return min(later - earlier for earlier, later in zip(times, times[1:]))


def paces(report, here, where):
    """Two programs send to one domain, and one to another."""
    maps = [starts_map(here, key, name) for key, name in (('a', 'one'), ('a', 'two'), ('b', 'three'))]
    for process in maps:
        until(process.stdout.fileno(), b'started')
    blocked = here.takt('block', '--store', f'agent:{here.socket}', 'smtp', '1s')
    done = [process.communicate(timeout=ends.DEADLINE) for process in maps]
    report.check(blocked.returncode == 0 and all(process.returncode == 0 for process in maps),
                 f'{where}: the programs go on after a block', (blocked, done))
    a, b = slots(here, 'one', 'two'), slots(here, 'three')
    report.check(len(a) == 2 * JOBS and len(b) == JOBS, f'{where}: all jobs have slots', (a, b))
    for domain in (a, b):
        report.check(least_gap(domain) >= INNER_US, f'{where}: a domain has no burst', domain)
    report.check(least_gap(sorted(a + b)) >= OUTER_US, f'{where}: nor has the whole', (a, b))


def held(here, key):
    """A `takt run` that holds permits until its gate is opened."""
    process = here.start('run', '--store', f'agent:{here.socket}', f'site:{key}', '--', 'sh', '-c',
                         'echo runs >&2; exec cat gate', stderr=subprocess.PIPE)
    until(process.stderr.fileno(), b'runs')
    return process


def holds(report, here, where):
    def tries(key, max_wait):
        return here.takt('run', '--store', f'agent:{here.socket}', '--max-wait', max_wait, f'site:{key}', '--', 'true')

    here.fifo('gate')
    first, *others = held(here, 'a'), held(here, 'a')
    report.check(tries('a', '100ms').returncode == 75, f'{where}: a site has two permits')
    others.append(held(here, 'b'))
    refused = tries('b', '100ms')
    report.check(refused.returncode == 75, f'{where}: all sites have three', refused)
    first.send_signal(signal.SIGKILL)
    done = [tries('a', '5s'), tries('b', '5s')]
    report.check(all(one.returncode == 0 for one in done), f'{where}: the end of a program frees its permits', done)
    here.open_gate('gate')
    for process in (first, *others):
        ends.wait(process)


def main():
    report = tap.Report()
    for where in ('file', 'redis'):
        with contextlib.ExitStack() as stack:
            here = stack.enter_context(agent_place())
            url = f'file:{here.path}/store/'
            if where == 'redis':
                url = stack.enter_context(redis_server.server(here.path)).url
            here.write('takt.yaml', POLICY)
            agent = here.agent('--store', url)
            paces(report, here, where)
            holds(report, here, where)
            end(agent)
    report.end()


main()
