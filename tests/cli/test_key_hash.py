#!/usr/bin/env python3
"""
Limits with `key_hash`: a Redis server never sees a key, in no command, name or channel, and no file has one; workers
with one secret share a quota; commands show the keys that they are given; and without a good secret nothing starts.
"""

import json
import pathlib
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from command import end, ends, place, tap, told, until, until_waiting  # noqa: E402
from redis_server import server  # noqa: E402

POLICY = '''
limits:
  - {name: mail, rules: [{rate: 3/day, algorithm: fixed-window}], key_hash: true, within: all}
  - {name: all, rules: [{rate: 1000/s}], key_hash: true}
  - {name: slots, concurrency: 1, key_hash: true}
  - {name: plain, rules: [{rate: 3/day}]}
'''
SECRET = 'one secret of the fleet'
ANN = 'ann@example.org'


def unseen(report, here, redis):
    """What the server hears while everything is done that names a key."""
    monitor = subprocess.Popen(['redis-cli', '-s', redis.socket, 'MONITOR'], stdout=subprocess.PIPE)
    try:
        heard = until(monitor.stdout.fileno(), b'OK')
        holder = here.start('run', f'slots:{ANN}', '--', 'sh', '-c', 'echo runs; exec cat', stdin=subprocess.PIPE)
        until(holder.stdout.fileno(), b'runs')
        waiter = here.start('run', f'slots:{ANN}', '--', 'true')
        until_waiting(here, [f'slots:{ANN}'], 1)
        ends.until(lambda: 'slots' in redis.say('PUBSUB', 'SHARDCHANNELS'), 'nobody listens to the limit')
        channels = redis.say('PUBSUB', 'SHARDCHANNELS')
        names = redis.say('KEYS', '*')
        holder.stdin.close()
        report.check((end(holder)[0], end(waiter)[0]) == (0, 0), 'a hand-over within a hashed key')
        here.takt('run', f'mail:{ANN}', '--within', ANN, '--', 'true')
        for words in (['penalize', f'mail:{ANN}', '1ms'], ['block', f'mail:{ANN}', '1ms'], ['unblock', f'mail:{ANN}'],
                      ['peek', f'mail:{ANN}'], ['reset', f'mail:{ANN}']):
            done = here.takt(*words)
            report.check(done.returncode == 0 and ANN in done.stdout, f'takt {words[0]} names the key', done)
        redis.say('ECHO', 'the-end')
        heard = until(monitor.stdout.fileno(), b'the-end', heard)
    finally:
        monitor.kill()
        monitor.wait()
    for what, text in (('commands', heard.decode()), ('channels', channels), ('keys', names)):
        report.check('slots' in text and ANN not in text and 'example' not in text.replace('%40', '@'),
                     f'no key of a person is in the {what} of the server', text[-2000:])


def shared(report, here):
    for _ in range(3):
        here.takt('run', f'mail:{ANN}', '--', 'true')
    tried = here.takt('run', '--try', f'mail:{ANN}', '--', 'true')
    report.check(tried.returncode == 75, 'workers with one secret share a quota', tried)
    report.check(here.takt('run', '--try', 'mail:bob', '--', 'true').returncode == 0, 'and each key has its own')
    here.environment['TAKT_KEY_SECRET'] = 'another secret, of nobody'
    report.check(here.takt('run', '--try', f'mail:{ANN}', '--', 'true').returncode == 0, 'another secret has another one')
    here.environment['TAKT_KEY_SECRET'] = SECRET


def kept(report, here, redis):
    """The bytes of the files of the file store."""
    here.environment['TAKT_STORE'] = f'file:{here.path}/store/'
    here.takt('run', f'mail:{ANN}', '--within', ANN, '--', 'true')
    here.takt('run', f'slots:{ANN}', '--', 'true')
    here.takt('run', 'plain:bob@example.com', '--', 'true')
    bytes_of = b''.join(file.read_bytes() for file in (here.path / 'store').iterdir())
    report.check(b'bob@example.com' in bytes_of and b'example.org' not in bytes_of,
                 'no key of a person is in the files of the file store')
    here.environment['TAKT_STORE'] = redis.url


def shown(report, here):
    """What commands show of keys and of limits."""
    for words in (['peek', '--json'], ['top', '--once'], ['top', '--once', '--json']):
        done = here.takt(*words, f'mail:{ANN}')
        report.check(done.returncode == 0 and ANN in done.stdout and '#' not in done.stdout,
                     f'takt {" ".join(words)} shows the key that it is given', done)
    done = here.takt('check', '--json')
    limits = {limit['name']: limit['key_hash'] for limit in json.loads(done.stdout)['limits']}
    report.check(limits == {'mail': True, 'all': True, 'slots': True, 'plain': False}, 'takt check tells which', done)


def found(report, here, redis):
    """A key in the store without a known name."""
    here.takt('run', 'slots:dora', '--', 'true')
    here.takt('block', 'slots:dora', '1h')
    names = [name for name in redis.say('KEYS', '*/slots/*').split() if name.endswith('}')]
    blocked = []
    for name in names:
        key = urllib.parse.unquote(name.split('/')[2].rstrip('}'))
        done = here.takt('peek', f'slots:{key}')
        if 'blocked' in done.stdout:
            blocked.append((key, done.stdout))
    report.check(len(blocked) == 1 and blocked[0][0][0] == '#' and blocked[0][0] in blocked[0][1],
                 'a hash from the store names its ledger, and is shown as it is', str(blocked))


def hidden(report, here):
    done = here.takt('run', 'plain', '--', 'sh', '-c', 'echo "<$TAKT_KEY_SECRET>"')
    report.check(done.stdout == '<>\n', 'commands do not inherit the secret', done)


def refused(report, here):
    del here.environment['TAKT_KEY_SECRET']
    done = here.takt('run', f'mail:{ANN}', '--', 'true')
    report.check(done.returncode == 78 and 'TAKT_KEY_SECRET' in done.stderr, 'without a secret nothing starts', done)
    here.environment['TAKT_KEY_SECRET'] = 'short'
    done = here.takt('run', f'mail:{ANN}', '--', 'true')
    report.check(done.returncode == 78 and 'openssl rand' in done.stderr, 'nor with a short one', told(done))
    here.environment['TAKT_POLICY'] = here.write('other.yaml', 'limits:\n  - {name: a, rules: [{rate: 5/s}]}\n')
    report.check(here.takt('run', 'a', '--', 'true').returncode == 0, 'which matters only where it is used')


def main():
    report = tap.Report()
    with place() as here, server(here.path) as redis:
        here.environment.update(TAKT_STORE=redis.url, TAKT_KEY_SECRET=SECRET,
                                TAKT_POLICY=here.write('takt.yaml', POLICY))
        unseen(report, here, redis)
        shared(report, here)
        kept(report, here, redis)
        shown(report, here)
        found(report, here, redis)
        hidden(report, here)
        refused(report, here)
    report.end()


if __name__ == '__main__':
    main()
