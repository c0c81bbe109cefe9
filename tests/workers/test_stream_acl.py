#!/usr/bin/env python3
"""
The rights that workers of a stream and `takt-jobs` need, as docs/redis.md prints them: with exactly these everything
works, and none of them can be left out.
"""

import re

from program import SOURCE, ends
from stream import KEY, Stream, stream, tap, told

NICETIES = {'client|setname', 'info', 'config|get', 'cluster|slots'}
PAGE = (SOURCE / 'docs' / 'redis.md').read_text(encoding='utf-8')


def documented(first):
    """The words of the ACL SETUSER that begins so."""
    found = re.search(r'^```\n(' + re.escape(first) + r'\s.*?)^```$', PAGE, re.S | re.M)
    return [word.replace('>PASSWORD', '>pass') for word in found.group(1).split()]


def grants(words):
    return [word[1:] for word in words if word.startswith('+')]


def refused(redis):
    lines = redis.say('ACL', 'LOG').splitlines()
    return {lines[at + 1] for at, line in enumerate(lines) if line == 'object'}


def scene(redis):
    """An abandoned job, a job that is tried twice, a job that dies, and a user with an empty ACL log."""
    redis.say('FLUSHALL')
    redis.say('XGROUP', 'CREATE', KEY, 'takt', '0', 'MKSTREAM')
    for job in ('{"id": "left", "limit": "fast"}', '{"id": "twice", "limit": "fast", "do": ["retry", "done"]}',
                '{"id": "dies", "limit": "fast", "do": ["dead"]}'):
        redis.say('XADD', KEY, '*', 'job', job)
    redis.say('XREADGROUP', 'GROUP', 'takt', 'dead', 'COUNT', '1', 'STREAMS', KEY, '>')
    redis.say('ACL', 'LOG', 'RESET')


def begin(here):
    return here.begin('takt-puppet', '--until-empty', '--take-over-after', '200ms', '--retry-first', '1ms',
                      results='out')


def workers(report, here, redis, words):
    scene(redis)
    worker = begin(here)
    messages = ends.communicate(worker)[1].decode()
    report.check(worker.returncode == 1 and {one['id'] for one in here.results('out')} == {'left', 'twice'},
                 'workers do with their user what workers do', messages)
    report.check(refused(redis) <= NICETIES, 'and the server has refused nothing', refused(redis))
    for grant in grants(words):
        scene(redis)
        redis.say('ACL', 'SETUSER', 'worker', f'-{grant}')
        worker = begin(here)
        ends.until(lambda: grant in refused(redis), lambda: f'+{grant} is not missed: {redis.say("ACL", "LOG")}')
        report.check(True, f'+{grant} is missed')
        worker.kill()
        ends.communicate(worker)
        redis.say('ACL', 'SETUSER', 'worker', f'+{grant}')


def everything(here, redis):
    """All commands of the tool; their output."""
    redis.say('XADD', 'takt:jobs:{q}:dead', '1-1', 'job', '{"id": "a"}')
    redis.say('XADD', 'takt:jobs:{q}:dead', '1-2', 'why', 'lost')
    return [here.tool('add', 'q', input='{"id": "1"}\n'), here.tool('q'), here.tool('dead', 'q'),
            here.tool('retry', 'q', '1-2'), here.tool('retry', 'q', '--all')]


def tool(report, here, redis, words):
    scene(redis)
    done = everything(here, redis)
    report.check([one.returncode for one in done] == [0, 0, 0, 1, 1] and '1 put back' in done[4].stdout,
                 'takt-jobs does with its user what it does', '\n'.join(map(told, done)))
    report.check(refused(redis) <= NICETIES, 'and the server has refused nothing', refused(redis))
    for grant in grants(words):
        scene(redis)
        redis.say('ACL', 'SETUSER', 'clerk', f'-{grant}')
        everything(here, redis)
        report.check(grant in refused(redis), f'+{grant} is missed', redis.say('ACL', 'LOG'))
        redis.say('ACL', 'SETUSER', 'clerk', f'+{grant}')


def main():
    report = tap.Report()
    with stream() as admin:
        here, redis = Stream(admin.here, admin.redis), admin.redis
        here.here.environment['TAKT_REDIS_PASSWORD'] = 'pass'
        of_stores, of_streams, of_tool = (documented(first) for first in (
            'ACL SETUSER worker on', 'ACL SETUSER worker\n   ', 'ACL SETUSER clerk'))
        report.check([redis.say(*words) for words in (of_stores, of_streams, of_tool)] == ['OK'] * 3,
                     'the users can be made as the page says', (of_stores, of_streams, of_tool))
        here.here.environment['TAKT_STORE'] = f'{redis.url}?user=worker'
        workers(report, here, redis, of_streams)
        here.here.environment['TAKT_STORE'] = f'{redis.url}?user=clerk'
        tool(report, here, redis, of_tool)
    report.end()


if __name__ == '__main__':
    main()
