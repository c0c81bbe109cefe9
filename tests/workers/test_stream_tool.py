#!/usr/bin/env python3
"""takt-jobs: adds jobs to a stream, shows how it stands, lists dead letters and puts them back."""

import json
import signal

from program import end, until
from stream import DEAD, KEY, stream, tap, told


def adds(report, here):
    lines = [json.dumps({'id': str(number), 'limit': 'fast', 'text': 'x' * 1000}) for number in range(20000)]
    lines[7] = '{"id": "8"'
    lines[99] = '{"limit": "fast"}'
    here.here.write('lines', '\n'.join(lines))
    done = here.tool('add', 'q', '-i', 'lines')
    report.check(done.returncode == 65 and done.stdout == '19998 added, 2 refused\n', 'lines become entries',
                 told(done))
    report.check('lines:8: it is not JSON' in done.stderr and 'lines:100: id:' in done.stderr,
                 'those that are no jobs are refused by their numbers', told(done))
    report.check(here.show()['length'] == 19998, 'and the others are there', here.show())
    done = here.tool('add', 'q', '-i', 'lines', '--from-line', 19999, '--json')
    report.check(done.returncode == 0 and json.loads(done.stdout) == {'added': 2, 'refused': 0},
                 'one can go on from a line', told(done))
    done = here.tool('add', 'q', input='{"id": "1"}\n\n{"id": "2"}')
    report.check(done.returncode == 0 and done.stdout == '2 added, 0 refused\n', 'standard input is read', told(done))


def shows(report, here):
    for arguments in (['q'], ['show', 'q', '--json']):
        done = here.tool(*arguments)
        report.check(done.returncode == 66 and 'there is no stream q;' in done.stderr and not done.stdout,
                     'a stream that is not there is no empty one', told(done))
    letter = here.redis.say('XADD', DEAD, '*', 'why', 'x').strip()
    done = here.tool('q')
    report.check(done.returncode == 0 and 'length     0' in done.stdout and 'dead       1' in done.stdout,
                 'dead letters are left of one that is gone', told(done))
    here.redis.say('XDEL', DEAD, letter)
    here.redis.say('XGROUP', 'CREATE', KEY, 'other', '0', 'MKSTREAM')
    done = here.tool('q')
    report.check(done.returncode == 0 and 'length     0' in done.stdout, 'a stream may be empty', told(done))
    here.add([{'id': 'held', 'limit': 'fast', 'do': ['hold']}, {'id': 'waits', 'limit': 'slow'},
              {'id': 'too', 'limit': 'slow'}])
    here.redis.say('XADD', DEAD, '*', 'why', 'x')
    worker = here.begin('takt-puppet', '--group', 'other')
    got = b''
    while got.count(b'started') < 2:
        got += until(worker.stderr.fileno(), b'\n')
    here.tool('add', 'q', input='{"id": "new", "limit": "slow"}\n')
    shown = json.loads(here.tool('show', '--json', '--group', 'other', 'q').stdout)
    report.check(shown['dead'] == 1 and shown['length'] == shown['waiting'] + shown['taken'] and shown['oldest_ms'] >= 0
                 and sum(one['taken'] for one in shown['consumers']) == shown['taken'], 'all is counted', shown)
    done = here.tool('q', '--group', 'other')
    report.check(done.returncode == 0 and ' by ' in done.stdout and 'oldest' in done.stdout
                 and 'dead       1' in done.stdout,
                 'and told', told(done))
    worker.send_signal(signal.SIGUSR1)
    worker.terminate()
    end(worker)


def puts_back(report, here):
    here.add([{'id': f'dies-{number}', 'limit': 'fast', 'do': ['dead']} for number in range(100)])
    done = here.work('takt-puppet')
    letters = here.dead()
    report.check(done.returncode == 1 and len(letters) == 100
                 and {letter['why'] for letter in letters} == {'told to die'}
                 and letters[0]['job']['do'] == ['dead'], 'dead letters are listed', told(done))
    text = here.tool('dead', 'q').stdout
    report.check(text.count('told to die') == 100 and text.startswith(letters[0]['letter']), 'one line each',
                 text[:200])
    done = here.tool('retry', 'q', letters[3]['letter'], letters[5]['letter'], '1-1')
    report.check(done.returncode == 1 and done.stdout == '2 put back, 1 failed\n'
                 and '1-1: there is no such' in done.stderr,
                 'some are put back', told(done))
    report.check(len(here.dead()) == 98 and here.show()['waiting'] == 2, 'and are jobs again', here.show())
    both = [here.here.begin('takt-jobs', 'retry', 'q', '--all', '--json') for _ in range(2)]
    counts = [json.loads(end(one)[1])['put_back'] for one in both]
    report.check(sum(counts) == 98 and not here.dead() and here.show()['waiting'] == 100,
                 'two who put all back put each back once', counts)
    here.redis.say('XADD', DEAD, '*', 'why', '\x1b[31mred', 'entry', '1-1')
    done = here.tool('dead', 'q')
    report.check('\x1b' not in done.stdout and 'red' in done.stdout,
                 'what stands in a letter is harmless to a terminal',
                 told(done))
    here.redis.say('XADD', DEAD, '*', 'id', 'a"b\\', 'why', 'answered 404: "none"')
    done = here.tool('dead', 'q')
    report.check(done.stdout.endswith(' "a\\"b\\\\" "answered 404: \\"none\\""\n'), 'a text ends where its quotes do',
                 told(done))
    done = here.tool('retry', 'q', '--all')
    report.check(done.returncode == 1 and 'text was not kept' in done.stderr and len(here.dead()) == 2,
                 'those without a text stay where they are', told(done))


def refusals(report, here):
    for arguments, status, words in (
            ([], 64, 'which stream?'), (['show'], 64, 'which stream?'), (['shwo', 'q'], 64, '"shwo" is not a command'),
            (['show', 'q', 'r'], 64, '"r": one stream at a time'),
            (['add', 'x y'], 64, "a stream's name has"), (['retry', 'q'], 64, 'or --all'),
            (['retry', 'q', 'x'], 64, "not a dead letter's name"), (['show', 'q', '--all'], 64, 'or --all'),
            (['show', 'q', '-i', 'x'], 64, 'belong to takt-jobs add'), (['add', 'q', '-i', 'nowhere'], 66, 'nowhere'),
            (['add', 'q', '--from-line', '0'], 64, '--from-line takes'), (['q', '-s', 'file:x'], 64, 'Redis or Valkey'),
            (['q', '-s', 'unix:/nowhere'], 69, 'cannot connect')):
        done = here.tool(*arguments)
        report.check(done.returncode == status and words in done.stderr, f'refused: {" ".join(arguments)}', told(done))
    here.redis.say('SET', KEY, 'foreign')
    done = here.tool('q')
    report.check(done.returncode == 69 and 'WRONGTYPE' in done.stderr, 'a key of somebody else is told of', told(done))
    del here.here.environment['TAKT_STORE']
    done = here.tool('q')
    report.check(done.returncode == 64 and 'which server?' in done.stderr, 'a server must be named', told(done))


def main():
    report = tap.Report()
    for case in (adds, shows, puts_back, refusals):
        with stream() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
