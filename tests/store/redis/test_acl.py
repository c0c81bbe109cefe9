#!/usr/bin/env python3
"""
The least ACL user, as docs/redis.md prints it: with exactly these rights everything works, nothing else does, and none
of them can be left out. The same without SCRIPT LOAD, where another user loads the scripts.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'cli'))
from command import SOURCE, end, ends, place, tap, told, until  # noqa: E402
from redis_server import server  # noqa: E402

USER = 'worker:pass'

# What is asked for, and done without.
NICETIES = {'client|setname', 'info', 'config|get', 'cluster|slots'}

# What a limit can be.
RATES = [
    ['--rate', '2/h', '--burst', '2'],
    ['--rate', '2/h', '--algorithm', 'token-bucket'],
    ['--rate', '100/s', '--algorithm', 'leaky-bucket', '--queue', '5'],
    ['--rate', '2/h', '--algorithm', 'fixed-window'],
    ['--rate', '2/day', '--algorithm', 'fixed-window', '--timezone', 'Europe/Berlin'],
    ['--rate', '2/h', '--algorithm', 'sliding-window'],
    ['--rate', '2/h', '--algorithm', 'sliding-log'],
    ['--concurrency', '1'],
    ['--concurrency', '1', '--lease', '1s', '--rate', '100/s', '--algorithm', 'sliding-log'],
]


def documented():
    """The words of the ACL SETUSER that the page prints."""
    text = (SOURCE / 'docs' / 'redis.md').read_text(encoding='utf-8')
    found = re.search(r'^```\n(ACL SETUSER worker .*?)^```$', text, re.S | re.M)
    return [word.replace('>PASSWORD', '>pass') for word in found.group(1).split()]


def look(here, *words):
    done = here.takt('doctor', '--json', '--timeout', '60s', *words)
    return done, {finding['subject']: finding for finding in map(json.loads, done.stdout.splitlines())}


def leases(report, here):
    """A permit of a killed holder comes free, and a released permit wakes the next waiter."""
    words = ['--concurrency', '1', '--lease', '1s', 'leased']
    here.fifo('gate')
    process = here.start('run', *words, '--', 'sh', '-c', 'echo begun; exec cat gate')
    until(process.stdout.fileno(), b'begun\n')
    process.kill()
    ends.wait(process)
    done = here.takt('run', '--max-wait', '20s', *words, '--', 'true')
    report.check(done.returncode == 0, 'a lease comes to its end', told(done))
    here.open_gate('gate')
    (here.path / 'gate').unlink()
    several = [here.start('run', *words, '--', 'true') for _ in range(3)]
    done = [end(one) for one in several]
    report.check([one[0] for one in done] == [0, 0, 0], 'several take turns', done)


def following(report, here):
    """A policy is applied and followed."""
    here.write('follow.yaml', 'policy: store\n')
    here.write('limits.yaml', f'limits: [{{name: mail{len(list(here.path.iterdir()))}, rules: [{{rate: 100/s}}]}}]\n')
    done = [here.takt('apply', 'limits.yaml'), here.takt('policy', '-p', 'follow.yaml')]
    name = done[1].stdout.splitlines()[-1].split()[0]
    done.append(here.takt('run', '-p', 'follow.yaml', name, '--', 'true'))
    report.check([one.returncode for one in done] == [0, 0, 0], 'a policy is applied and followed', '\n'.join(map(told, done)))


def everything(report, here, redis):
    redis.say('ACL', 'LOG', 'RESET')
    for rate in RATES:
        done = [here.takt('run', *rate, 'mail', '--', 'true'), here.takt('run', '--try', *rate, 'mail', '--', 'true'),
                *(here.takt(command, *rate, 'mail', *more) for command, *more in
                  (['peek'], ['block', '1h'], ['unblock'], ['reset']))]
        report.check([one.returncode for one in done] in ([0] * 6, [0, 75, 0, 0, 0, 0]), f'every command goes: {" ".join(rate)}',
                     '\n'.join(map(told, done)))
    leases(report, here)
    here.write('lines', ''.join(f'{number}\n' for number in range(20)))
    maps = [here.start('map', '--rate', '200/s', '-q', '-j', '8', '-i', 'lines', 'jobs', '--', 'true') for _ in range(2)]
    done = [end(one) for one in maps]
    report.check([one[0] for one in done] == [0, 0], 'two maps share a limit', done)
    following(report, here)
    done, findings = look(here)
    report.check(done.returncode == 0 and all(findings[subject]['level'] == 'ok' for subject in ('rights', 'hints', 'use')),
                 '`takt doctor` says so too', told(done))
    lines = redis.say('ACL', 'LOG').splitlines()
    refused = {lines[at + 1] for at, line in enumerate(lines) if line == 'object'}
    report.check(refused <= NICETIES, 'the server has refused nothing that is needed', refused)


def hints(report, here, redis):
    """A waiter listens, and gets the message at the end of a block."""
    rate = ['--rate', '1/s']
    here.takt('block', *rate, 'quiet', '1h')
    waiter = here.start('run', *rate, 'quiet', '--', 'true')
    ends.until(lambda: waiter.poll() is not None or 'takt:{default/quiet/}' in redis.say('PUBSUB', 'SHARDCHANNELS'),
               'the waiter never listens')
    assert waiter.poll() is None
    before = redis.say('INFO', 'commandstats')
    done = here.takt('unblock', *rate, 'quiet')
    report.check(done.returncode == 0 and end(waiter)[0] == 0, 'one who waits goes on when a block ends', told(done))
    after = redis.say('INFO', 'commandstats')
    stats = [re.search(r'cmdstat_spublish:calls=(\d+).*rejected_calls=0,failed_calls=0', text) for text in (before, after)]
    report.check(all(stats) and int(stats[1].group(1)) == int(stats[0].group(1)) + 1, 'a hint of it went out', after)


def nothing_else(report, redis):
    redis.say('SET', 'foreign', 'x')
    redis.say('SET', 'takt:mine', 'x')
    for words in (['FLUSHALL'], ['CONFIG', 'GET', '*'], ['KEYS', '*'], ['GET', 'foreign'], ['SET', 'foreign', 'y'],
                  ['SCRIPT', 'FLUSH'], ['EVAL', 'return 1', '0'], ['ACL', 'LIST'], ['CLIENT', 'LIST'], ['SCAN', '0'],
                  ['PUBLISH', 'foreign', 'x'], ['SUBSCRIBE', 'foreign'], ['SHUTDOWN']):
        answer = redis.say(*words, user=USER)
        report.check('NOPERM' in answer, f'refused: {" ".join(words)}', answer)
    report.check(redis.say('GET', 'takt:mine', user=USER) == 'x', 'but not what is its own')


def none_can_go(report, here, redis, words):
    """Each grant taken away for itself is missed."""
    for grant in [word for word in words if word.startswith('+')]:
        redis.say('ACL', 'SETUSER', 'worker', f'-{grant[1:]}')
        done, findings = look(here)
        missed = [finding for finding in findings.values() if finding['level'] in ('warning', 'error')
                  and f' {grant} ' in finding['text'] + ' ']
        report.check(missed and (done.returncode == 69) == (missed[0]['subject'] == 'rights'), f'{grant} is missed',
                     told(done))
        redis.say('ACL', 'SETUSER', 'worker', grant)
    for pattern, reset in (('~takt:*', 'resetkeys'), ('&takt:*', 'resetchannels')):
        redis.say('ACL', 'SETUSER', 'worker', reset)
        done, findings = look(here)
        report.check(any(pattern in finding['text'] for finding in findings.values()), f'{pattern} is missed', told(done))
        redis.say('ACL', 'SETUSER', 'worker', pattern)


def hardened(report, here, redis):
    redis.say('ACL', 'SETUSER', 'worker', '-script|load')
    redis.say('SCRIPT', 'FLUSH')
    here.environment['TAKT_STORE'] = f'{redis.url}?user=worker&scripts=preloaded'
    done = here.takt('run', '--try', *RATES[0], 'hardened', '--', 'true')
    report.check(done.returncode == 69 and '--load-scripts' in done.stderr, 'hardened, without scripts: 69', told(done))
    redis.say('ACL', 'SETUSER', 'loader', 'on', '>pass', 'resetkeys', 'resetchannels', '-@all', '+script|load')
    done = here.takt('doctor', '--load-scripts', '--timeout', '60s', '-s', f'{redis.url}?user=loader')
    report.check(done.returncode == 0, 'a user who may only do that loads them', told(done))
    everything(report, here, redis)


def main():
    report = tap.Report()
    words = documented()
    with place() as here, server(here.path) as redis:
        report.check(redis.say(*words) == 'OK', 'the user can be made as the page says', words)
        here.environment.update(TAKT_STORE=f'{redis.url}?user=worker', TAKT_REDIS_PASSWORD='pass')
        everything(report, here, redis)
        hints(report, here, redis)
        nothing_else(report, redis)
        none_can_go(report, here, redis, words)
        hardened(report, here, redis)
    report.end()


if __name__ == '__main__':
    main()
