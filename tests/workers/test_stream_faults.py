#!/usr/bin/env python3
"""Streams when things go wrong: a server that comes back, connections that are cut, entries that are no jobs."""

import json

from program import end, ends, until
from stream import DEAD, DEADLINE, KEY, ids, stream, tap, told

# They take a while, so that faults come before all is done.
SOME = [{'id': str(number), 'limit': 'fast', 'text': 'x', 'ms': 40} for number in range(600)]


def all_once(report, here, name, what):
    found = here.results(name)
    report.check(ids(found) == sorted(job['id'] for job in SOME), what,
                 f'{len(found)} results, {len(set(ids(found)))} jobs')


def restarted(report):
    """Commands without an answer when the server went away are sent again, and no job is done twice."""
    with stream(appendonly='yes', appendfsync='always') as here:
        here.add(SOME)
        worker = here.begin('takt-print', '--until-empty', '--parallel', 8, results='out')
        for least in (50, 250):
            here.until_results('out', least)
            here.redis.stop()
            here.redis.start()
        status, _, messages = end(worker)
        report.check(status == 0 and 'recovered who=source' in messages, 'a worker goes on when its server is back',
                     messages[-2000:])
        all_once(report, here, 'out', 'each job is done, once')
        report.check(here.show()['length'] == 0, 'and deleted', here.show())


def cut_off(report):
    with stream() as here:
        here.add(SOME)
        worker = here.begin('takt-print', '--until-empty', '--parallel', 8, '--waiting', 20, results='out')
        for least in range(20, 420, 50):
            here.until_results('out', least)
            here.redis.say('CLIENT', 'KILL', 'TYPE', 'normal')
        status, _, messages = end(worker)
        report.check(status == 0, 'connections that are cut are made again', messages)
        all_once(report, here, 'out', 'and each job is done, once')
        report.check(here.show()['length'] == 0, 'and deleted', here.show())


def flushed(report):
    """Another client deletes the stream: waiting jobs are gone, new ones are done."""
    with stream() as here:
        here.add([{'id': str(number), 'limit': 'slow', 'text': 'x'} for number in range(5)])
        worker = here.begin('takt-print', results='out')
        here.until_slow_result('out')
        here.until('it has them', lambda shown: shown['taken'] >= 4 and shown['length'] == 4)
        here.redis.say('DEL', KEY)
        until(worker.stderr.fileno(), b'creating it again')
        here.add([{'id': 'new', 'limit': 'fast', 'text': 'x'}])
        here.until_results('out', 2)
        worker.terminate()
        status, _, messages = end(worker)
        report.check(status == 0 and ids(here.results('out'))[-1] == 'new', 'a stream that was deleted is made again',
                     messages)
        report.check(here.show()['length'] == 0, 'without what was deleted', here.show())


def pour(here, field, data):
    """Adds an entry with a text that no command line holds."""
    done = ends.run(['redis-cli', '-s', here.redis.socket, '-x', 'XADD', KEY, '*', field], input=data, capture_output=True)
    assert done.returncode == 0, done


def no_jobs(report):
    """Any malformed entry of the stream ends as a dead letter with its reason, and the others continue."""
    with stream() as here:
        here.redis.say('XADD', KEY, '*', 'task', 'x')
        here.redis.say('XADD', KEY, '*', 'job', 'no JSON')
        here.redis.say('XADD', KEY, '*', 'job', '{"id": "a", "limit": "unknown", "text": "x"}')
        pour(here, 'job', b'{"id": "two megabytes", "limit": "fast", "text": "' + b'x' * 2 * 1024 * 1024 + b'"}')
        pour(here, 'job', b'{"id": "b\xff"}')
        here.add([{'id': 'fine', 'limit': 'fast', 'text': 'x'}])
        done = here.work('takt-print', '--results', 'out')
        report.check(done.returncode == 1 and ids(here.results('out')) == ['fine'], 'what is no job holds up none',
                     told(done))
        letters = here.dead()
        whys = [letter['why'] for letter in letters]
        report.check(len(whys) == 5 and all(any(word in why for why in whys) for word in (
            'no field "job"', 'not JSON', '"unknown"', 'a job has at most')),
                     'each is a dead letter with its reason', whys)
        report.check(here.show()['length'] == 0 and all('-' in letter['entry'] for letter in letters),
                     'that names its entry', letters)


def too_large(report):
    """Answers larger than a worker takes in: many large entries at once are read one by one, one that is too large for
    itself becomes a dead letter without its text."""
    with stream() as here:
        for number in range(30):
            pour(here, 'job', json.dumps({'id': str(number), 'limit': 'fast', 'pad': 'x' * 1000000}).encode())
        pour(here, 'job', b'x' * 70 * 1024 * 1024)
        here.add([{'id': 'last', 'limit': 'fast'}])
        done = here.work('takt-puppet', '--results', 'out')
        report.check(done.returncode == 1 and ids(here.results('out')) == sorted([*map(str, range(30)), 'last'])
                     and 'was lost' not in done.stderr, 'large jobs are done', done.stderr[-2000:])
        letters = here.dead()
        report.check(len(letters) == 1 and '64 MiB' in letters[0]['why'] and letters[0]['job'] is None,
                     'one that cannot be read is a dead letter', [letter['why'] for letter in letters])
        report.check(here.show()['length'] == 0, 'nothing is left', here.show())


def refusals(report):
    with stream() as here:
        for arguments, status, words in (
                (['--stream', 'no such name'], 64, "a stream's name has"),
                (['--stream', 'q', '--group', 'x y'], 64, "a group's name has"),
                (['--stream', 'q', '--redis', 'file:x'], 64, 'a Redis or Valkey server is needed'),
                (['--stream', 'q', '--redis', 'unix:' + here.redis.socket + '?user=nobody'], 69, 'no password')):
            done = here.here.work('takt-print', *arguments)
            report.check(done.returncode == status and words in done.stderr, f'refused: {" ".join(arguments)[:40]}',
                         told(done))
        here.redis.say('SET', KEY, 'foreign')
        done = here.work('takt-print')
        report.check(done.returncode == 74 and 'WRONGTYPE' in done.stderr, 'a key of somebody else is told of',
                     told(done))
        report.check(here.redis.say('EXISTS', DEAD) == '0', 'and left alone')


def main():
    report = tap.Report()
    for case in (restarted, cut_off, flushed, no_jobs, too_large, refusals):
        case(report)
    report.end()


if __name__ == '__main__':
    main()
