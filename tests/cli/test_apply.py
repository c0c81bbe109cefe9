#!/usr/bin/env python3
"""
`takt apply` and `takt policy`; workers that follow the stored policy, over a file and over Redis, without a restart;
and `takt map`, which reads its policy file again on SIGHUP.
"""

import fcntl
import json
import os
import pathlib
import pty
import signal
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from command import end, place, tap, told, until, until_waiting  # noqa: E402
from redis_server import server  # noqa: E402

ONE = 'limits:\n  - name: mail\n    rules: [{rate: 1/h}]\n  - name: old\n    concurrency: 2\n'
TWO = 'limits:\n  - name: mail\n    rules: [{rate: 1000/s}]\n  - name: api\n    rules: [{rate: 5/s}]\n'


def write_policies(here):
    here.write('takt.yaml', 'policy: store\n')
    here.write('one.yaml', ONE)
    here.write('two.yaml', TWO)


def applying(report, here):
    for command in (['policy'], ['run', 'mail', '--', 'true'], ['simulate', '--workers', '1', '--jobs', '2', '--limit', 'mail']):
        done = here.takt(*command)
        report.check(done.returncode == 78 and 'takt apply FILE' in done.stderr, f'nothing is there: {command[0]}', told(done))
    done = here.takt('apply', '-s', 'memory:', 'one.yaml')
    report.check(done.returncode == 64 and 'redis://HOST' in done.stderr, 'not into a store that nobody sees', told(done))
    done = here.takt('apply', '--dry-run', 'one.yaml')
    report.check(done.returncode == 1 and done.stdout == 'mail  added    1/h\nold   added    concurrency 2\n',
                 'a dry run shows what is new', told(done))
    report.check(here.takt('policy').returncode == 78, 'and changes nothing')
    done = here.takt('apply', 'one.yaml')
    report.check(done.returncode == 0 and 'version 1 in the namespace "default"' in done.stdout, 'applied', told(done))
    done = here.takt('apply', '--dry-run', 'one.yaml')
    report.check(done.returncode == 0 and done.stdout == 'no limit changes\n', 'a dry run without a difference', told(done))
    done = here.takt('apply', 'one.yaml')
    report.check(done.returncode == 0 and 'already has this text' in done.stdout, 'the same again does nothing', told(done))
    done = here.takt('apply', '--dry-run', '--json', 'two.yaml')
    told_json = json.loads(done.stdout)
    report.check(done.returncode == 1 and told_json == {
        'namespace': 'default', 'version': 1, 'was': 1, 'dry_run': True, 'differences': [
            {'limit': 'mail', 'change': 'changed', 'from': '1/h', 'to': '1000/s'},
            {'limit': 'api', 'change': 'added', 'from': None, 'to': '5/s'},
            {'limit': 'old', 'change': 'removed', 'from': 'concurrency 2', 'to': None}]},
        'limit by limit, for a program', told(done))
    done = here.takt('apply', '--json', 'two.yaml')
    report.check(done.returncode == 0 and json.loads(done.stdout)['version'] == 2, 'the next version', told(done))


def showing(report, here):
    done = here.takt('policy')
    lines = done.stdout.splitlines()
    report.check(done.returncode == 0 and lines[1:] == ['mail  1000/s', 'api   5/s']
                 and lines[0].startswith('version 2, revision 2, ')
                 and lines[0].endswith('mail changed, api added, old removed'), 'what is there', told(done))
    done = here.takt('policy', '--history')
    report.check([line.split(',')[0] for line in done.stdout.splitlines()] == ['version 2', 'version 1'], 'its history', told(done))
    report.check(here.takt('policy', '--text').stdout == TWO, 'its text as it was written')
    shown = json.loads(here.takt('policy', '--json').stdout)
    report.check(shown['text'] == TWO and [change['version'] for change in shown['history']] == [2, 1]
                 and '@' in shown['history'][0]['who'] and shown['at_us'] == shown['history'][0]['at_us'] > 0,
                 'all of it for a program', shown)
    done = here.takt('check')
    report.check(done.returncode == 0 and 'takt policy' in done.stdout, 'check says where the limits are', told(done))
    done = here.takt('simulate', '--workers', '1', '--jobs', '2', '--limit', 'api')
    report.check(done.returncode == 0, 'a simulation uses them', told(done))
    done = here.takt('peek', 'api')
    report.check(done.stdout.startswith('api: 5/s\n'), 'so does peek', told(done))
    done = here.takt('run', 'nope', '--', 'true')
    report.check(done.returncode == 64 and 'there are: mail, api' in done.stderr, 'a limit that is not there', told(done))
    done = here.takt('run', '--cost', '5', 'api', '--', 'true')
    report.check(done.returncode == 64 and '5/s' in done.stderr, 'a cost that can never be', told(done))


def refusing(report, here):
    done = here.takt('apply', 'takt.yaml')
    report.check(done.returncode == 78 and 'follows' in done.stderr, 'one that follows cannot be applied', told(done))
    here.write('bad.yaml', 'limits:\n  - name: mail\n    rules: [{rate: 5/fortnight}]\n')
    done = here.takt('apply', 'bad.yaml')
    report.check(done.returncode == 78 and 'bad.yaml:3' in done.stderr, 'nor a bad one', told(done))
    here.write('low.yaml', 'revision: 1\n' + ONE)
    for words in (['apply', 'low.yaml'], ['apply', '--dry-run', 'low.yaml']):
        done = here.takt(*words)
        report.check(done.returncode == 78 and 'write revision: 3' in done.stderr, 'nor one of a lower revision', told(done))
    done = here.takt('apply', '-s', 'unix:/nowhere', 'one.yaml')
    report.check(done.returncode == 69, 'a store that is not there: 69', told(done))
    report.check(here.takt('policy', '--text').stdout == TWO, 'what was there is there')


def following(report, here):
    """Three workers wait, for an hour each; then another policy is applied."""
    here.takt('apply', 'one.yaml')
    here.takt('block', 'mail', '1h')
    here.write('lines', ''.join(f'{number}\n' for number in range(20)))
    maps = [here.start('map', '-j', '4', '-i', 'lines', 'mail', '--', 'echo') for _ in range(2)]
    waiter = here.start('run', 'mail', '--', 'echo', 'ran')
    until_waiting(here, ['mail'], 9)
    done = here.takt('apply', 'two.yaml')
    report.check(done.returncode == 0, 'applied while they wait', told(done))
    got = [until(one.stderr.fileno(), b'mail changed, api added, old removed') for one in (*maps, waiter)]
    report.check(all(b'stored policy holds, by ' in text for text in got), 'they are told', got)
    here.takt('unblock', 'mail')
    results = [end(one) for one in (*maps, waiter)]
    report.check(all(result[0] == 0 for result in results) and results[2][1] == 'ran\n', 'all go on without a restart', results)


PLANS = """limits:
  - name: mail
    rules: [{rate: 1/h}]
    overrides:
      - {key: gold, rules: [{rate: 1000/s}]}
      - {key: "team-*", unlimited: true}
      - {key: mallory, rules: [{rate: 0}]}
"""


def by_key(report, here):
    """A waiter of one key continues when its key gets an override."""
    here.write('plain.yaml', 'limits:\n  - name: mail\n    rules: [{rate: 1/h}]\n')
    here.write('plans.yaml', PLANS)
    done = here.takt('check', 'plans.yaml')
    report.check(done.stdout == 'mail          1/h\nmail:gold     1000/s\nmail:team-*   unlimited, pattern 1\n'
                 'mail:mallory  refused\n', 'check lists overrides', told(done))
    done = here.takt('check', '--json', 'plans.yaml')
    report.check(json.loads(done.stdout)['limits'][0]['overrides'] == [
        {'key': 'gold', 'rules': '1000/s'}, {'key': 'team-*', 'rules': 'unlimited'},
        {'key': 'mallory', 'rules': 'refused'}], 'also for a program', told(done))
    here.takt('apply', 'plain.yaml')
    here.takt('run', 'mail:gold', '--', 'true')
    waiter = here.start('run', 'mail:gold', '--', 'echo', 'ran')
    until_waiting(here, ['mail:gold'], 1)
    done = here.takt('apply', 'plans.yaml')
    report.check('mail:mallory  added    refused\n' in done.stdout, 'apply lists overrides', told(done))
    result = end(waiter)
    report.check(result[0] == 0 and result[1] == 'ran\n', 'the waiter goes on under the numbers of its key', result)
    done = here.takt('peek', 'mail:gold')
    report.check(done.stdout.startswith('mail key "gold": 1000/s, override "gold"\n'), 'peek tells them', told(done))
    for _ in range(2):
        done = here.takt('run', 'mail:team-a', '--', 'echo', 'ran')
        report.check(done.returncode == 0 and done.stdout == 'ran\n', 'an unlimited key', told(done))
    done = here.takt('run', 'mail:mallory', '--', 'echo', 'ran')
    report.check(done.returncode == 64 and 'the key "mallory" is refused' in done.stderr, 'a refused key', told(done))
    report.check(here.takt('run', 'mail:other', '--', 'true').returncode == 0, 'another key')


def begin_map(here, *words, **options):
    """A map of ten lines at one an hour: the first has run."""
    here.write('lines', ''.join(f'{number}\n' for number in range(10)))
    process = here.start('map', *words, '-i', 'lines', 'mail', '--', 'echo', 'job', **options)
    until(process.stdout.fileno(), b'job 0\n')
    return process


def rereading(report, here):
    here.write('own.yaml', ONE)
    process = begin_map(here, '-p', 'own.yaml')
    here.write('own.yaml', 'limits:\n  - name: mail\n    rules: [{rate: fast}]\n')
    process.send_signal(signal.SIGHUP)
    got = until(process.stderr.fileno(), b'the policy is unchanged')
    report.check(b'own.yaml:3: ' in got, 'a broken file changes nothing', got)
    here.write('own.yaml', TWO.replace('mail', 'other'))
    process.send_signal(signal.SIGHUP)
    got = until(process.stderr.fileno(), b'the policy is unchanged')
    report.check(b'no longer has the limit "mail"' in got, 'nor one without our limit', got)
    here.write('own.yaml', 'policy: store\n')
    process.send_signal(signal.SIGHUP)
    got = until(process.stderr.fileno(), b'the policy is unchanged')
    report.check(b'restarted to use another store' in got, 'nor one that follows', got)
    here.write('own.yaml', 'revision: 7\n' + TWO)
    process.send_signal(signal.SIGHUP)
    got = until(process.stderr.fileno(), b'was read again')
    status, output, _ = end(process)
    report.check(status == 0 and output.count('job') == 9, 'a good one holds at once', output)


def without_a_file(report, here):
    process = begin_map(here, '--rate', '1/h')
    process.send_signal(signal.SIGHUP)
    report.check(end(process)[0] == 128 + signal.SIGHUP, 'without a file SIGHUP ends it')


def hanging_up(report, here):
    """A terminal that goes away ends a map, whether or not it has a policy's file."""
    here.write('own.yaml', 'limits:\n  - name: mail\n    rules: [{rate: 1/day}]\n')
    master, slave = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = begin_map(here, '-p', 'own.yaml', preexec_fn=take_terminal)
    os.close(slave)
    os.close(master)
    report.check(end(process)[0] == 128 + signal.SIGHUP, 'a terminal that is gone ends it')


def main():
    report = tap.Report()
    with place() as here:
        write_policies(here)
        applying(report, here)
        showing(report, here)
        refusing(report, here)
        following(report, here)
    with place() as here:
        write_policies(here)
        by_key(report, here)
    for part in (rereading, without_a_file, hanging_up):
        with place() as here:  # of a ledger with newer numbers nothing is left in a store of its own
            part(report, here)
    with place() as here, server(here.path) as redis:
        here.environment['TAKT_STORE'] = redis.url
        write_policies(here)
        applying(report, here)
        showing(report, here)
        following(report, here)
        by_key(report, here)
    report.end()


if __name__ == '__main__':
    main()
