#!/usr/bin/env python3
"""
Nested limits in programs behind a real agent, over the memory store, the file store and Redis: by the store's slots no
rule of any level is broken, also after a block of the outer limit, permits of both levels come together, and bounds of
inner limits count the waiters of all programs, also those that come with another policy of the agent. Levels may count
different units and differ in when_full.
"""

import contextlib
import json
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
  - {name: box, rules: [{rate: 1/h}], max_waiting: 2, within: smtp}
  - {name: latest, rules: [{rate: 1/h}], max_waiting: 1, when_full: drop-oldest, within: smtp}
  - {name: late, rules: [{rate: 1/h}], within: smtp}
  - name: team
    rules: [{rate: 1/h, burst: 1000, counts: output}, {rate: 1/h, burst: 100, counts: images}]
    within: model
  - {name: model, rules: [{rate: 1/h, burst: 9000, counts: input}, {rate: 1/h, burst: 2000, counts: output}]}
  - {name: newest, rules: [{rate: 1000/s}], max_waiting: 1, when_full: drop-oldest, within: narrow}
  - {name: narrow, rules: [{rate: 1000/s}], max_waiting: 2}
'''
BOUNDED = POLICY.replace('limits:', 'revision: 1\nlimits:').replace('{name: late,', '{name: late, max_waiting: 2,')
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


def units(report, here, where):
    """Each level takes its own units of the work of two programs; a third one wants more than a level has left."""
    def runs(costs, *options):
        words = [word for cost in costs.split(',') for word in ('--cost', cost)]
        return here.takt('run', '--store', f'agent:{here.socket}', *words, *options, 'team:k', '--', 'true')

    def left(limit):
        told = here.takt('peek', '--store', f'agent:{here.socket}', '--json', limit)
        return [rule['remaining'] for rule in json.loads(told.stdout)['rules']]

    done = [runs('input=3000,output=20,images=60'), runs('input=10,output=500,images=1')]
    report.check(all(one.returncode == 0 for one in done), f'{where}: programs take three units', done)
    report.check(left('model') == [5990, 1480] and left('team:k') == [480, 39], f'{where}: each level its own ones',
                 (left('model'), left('team:k')))
    refused = runs('input=1,output=1,images=40', '--max-wait', '100ms')
    report.check(refused.returncode == 75 and left('model') == [5990, 1480],
                 f'{where}: without a unit of one level nothing is taken of the others', refused)


class Bounded:
    """Programs that wait for one key of a limit whose only slot of the hour is taken."""

    def __init__(self, here, limit):
        self.here, self.waiting, self.agent = here, [], here.client()
        self.words = ['--store', f'agent:{here.socket}', '-p', here.write('programs.yaml', POLICY), f'{limit}:k']
        self.first = here.takt('run', *self.words, '--', 'true')

    def until_waiting(self, count):
        ends.until(lambda: f'\r\nwaiting:{count}\r' in self.agent.do('INFO'), f'there are never {count} waiting')

    def starts(self, count):
        """One more program; then so many wait."""
        self.waiting.append(self.here.start('run', *self.words, '--', 'true'))
        self.until_waiting(count)
        return self.waiting[-1]

    def tries(self):
        """Runs a program to its end: whether it was refused."""
        done = self.here.takt('run', *self.words, '--', 'true')
        return done.returncode == 75 and 'more would wait' in done.stderr, done

    def ends(self):
        """Whether each program still waited until now."""
        waited = [process.poll() is None for process in self.waiting]
        for process in self.waiting:
            process.kill()
            ends.wait(process)
        self.until_waiting(0)
        return waited


def bounds(report, here, where):
    box = Bounded(here, 'box')
    leaves = box.starts(1)
    box.starts(2)
    refused, told = box.tries()
    report.check(box.first.returncode == 0 and refused, f'{where}: a third waiter of an inner key is refused', told)
    leaves.kill()
    ends.wait(leaves)
    box.until_waiting(1)
    box.starts(2)
    report.check(box.tries()[0], f'{where}: one may wait for another that has left')
    waited = box.ends()
    report.check(waited == [False, True, True], f'{where}: and the others wait', waited)
    latest = Bounded(here, 'latest')
    dropped = latest.starts(1)
    latest.waiting.append(here.start('run', *latest.words, '--', 'true'))
    status = ends.wait(dropped)
    latest.until_waiting(1)
    waited = latest.ends()
    report.check(status == 75 and waited == [False, True], f'{where}: the oldest is dropped', (status, waited))


def bounds_later(report, here, where, agent):
    """The agent reads a policy that bounds an inner limit; that of the programs does not."""
    late = Bounded(here, 'late')
    for count in range(1, 4):
        late.starts(count)
    here.write('takt.yaml', BOUNDED)
    agent.send_signal(signal.SIGHUP)
    until(agent.stderr.fileno(), b'in use')
    refused, told = late.tries()
    report.check(refused, f'{where}: a bound of the next policy refuses another waiter', told)
    waited = late.ends()
    report.check(waited == [True] * 3, f'{where}: those that were there stay', waited)


def ways(report, here, where):
    """The key drops, the limit around it refuses: with two other waiters there, newcomers of the key fail."""
    def starts(key):
        return here.start('run', '--store', f'agent:{here.socket}', f'newest:{key}', '--', 'true')

    def until_waiting(count):
        ends.until(lambda: f'\r\nwaiting:{count}\r' in agent.do('INFO'), f'there are never {count} waiting')

    agent = here.client()
    here.takt('block', '--store', f'agent:{here.socket}', 'narrow', '1h')
    first = starts('a')
    until_waiting(1)
    second = starts('a')
    report.check(ends.wait(first) == 75, f'{where}: the key drops its oldest')
    third = starts('b')
    until_waiting(2)
    report.check(ends.wait(starts('a')) == 75, f'{where}: the limit around it refuses before the key drops')
    report.check((second.poll(), third.poll()) == (None, None), f'{where}: and the others wait')
    here.takt('unblock', '--store', f'agent:{here.socket}', 'narrow')
    report.check((ends.wait(second), ends.wait(third)) == (0, 0), f'{where}: until they start')


def main():
    report = tap.Report()
    for where in ('memory', 'file', 'redis'):
        with contextlib.ExitStack() as stack:
            here = stack.enter_context(agent_place())
            url = 'memory:' if where == 'memory' else f'file:{here.path}/store/'
            if where == 'redis':
                url = stack.enter_context(redis_server.server(here.path)).url
            here.write('takt.yaml', POLICY)
            agent = here.agent('--store', url)
            paces(report, here, where)
            holds(report, here, where)
            units(report, here, where)
            bounds(report, here, where)
            ways(report, here, where)
            bounds_later(report, here, where, agent)
            end(agent)
    report.end()


main()
