#!/usr/bin/env python3
"""The end of jobs: results, attempts, dead letters with their reasons, for any line of a file."""

import json
import signal

from program import end, results, tap, told, until, work_place

GOOD = {'id': 'good', 'limit': 'fast'}

# A line, words of the reason, and what the dead letter keeps of it.
BAD = [
    (b'not json', 'it is not JSON', 'not json'),
    (b'\xff\xfe{', 'it is not JSON', '??{'),
    (b'{"id": "\x00"}', 'it is not JSON', '{"id": "\x00"}'),
    (b'{"id": "cut"', 'it is not JSON', '{"id": "cut"'),
    (b'[1, 2]', 'not an object', [1, 2]),
    (b'{"limit": "fast"}', 'id: a job needs one', {'limit': 'fast'}),
    (b'{"id": "n"}', 'limit: a job needs one', {'id': 'n'}),
    (b'{"id": "n", "limit": "nowhere"}', 'nowhere', {'id': 'n', 'limit': 'nowhere'}),
    (b'{"id": "n", "limit": "fast:42"}', 'write "limit": "fast", "key": "42"', {'id': 'n', 'limit': 'fast:42'}),
    (b'{"limit": "\\u0000"}', 'it has the character \\u0000', {'limit': '\0'}),
    (b'{"id": "n", "limit": 5}', 'limit: it must be a string', {'id': 'n', 'limit': 5}),
    (b'{"id": "n", "limit": "fast", "cost": 0}', 'cost: it must be', {'id': 'n', 'limit': 'fast', 'cost': 0}),
    (b'{"id": "n", "limit": "slow", "cost": 2}', 'a cost of 2', {'id': 'n', 'limit': 'slow', 'cost': 2}),
    (b'{"id": "n", "limit": "fast", "cost": {}}', 'or amounts by unit, such as {"tokens": 1500}',
     {'id': 'n', 'limit': 'fast', 'cost': {}}),
    (b'{"id": "n", "limit": "fast", "cost": {"tokens": "5"}}', 'cost: it must be a whole number',
     {'id': 'n', 'limit': 'fast', 'cost': {'tokens': '5'}}),
    (b'{"id": "n", "limit": "fast", "cost": {"tokens": 5}}', 'an amount of "tokens", and its rules name no unit',
     {'id': 'n', 'limit': 'fast', 'cost': {'tokens': 5}}),
    (b'{"id": "n", "limit": "fast", "cost": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}', 'write at most 4',
     {'id': 'n', 'limit': 'fast', 'cost': {'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1}}),
    (b'{"id": "n", "limit": "fast", "deadline": "2001-01-01T00:00:00Z"}', 'deadline has passed',
     {'id': 'n', 'limit': 'fast', 'deadline': '2001-01-01T00:00:00Z'}),
    (b'{"id": "n", "limit": "fast", "x": "' + b'y' * 10_000_000 + b'"}', 'more than 1 MiB', None),
]


def bad_lines(report, here):
    here.jobs('jobs', [line for bad in BAD for line in (json.dumps(GOOD), bad[0])])
    done = here.work('takt-puppet', '-i', 'jobs')
    letters = here.letters('jobs.dead')
    report.check(done.returncode == 1 and done.stdout.count('"id":"good"') == len(BAD),
                 'what is no job does not keep others from being done', told(done))
    for number, ((line, words, kept), letter) in enumerate(zip(BAD, letters)):
        report.check(words in letter['why'] and letter['job'] == kept and letter['line'] == 2 * number + 2,
                     f'{line[:60]}: {words}', letter)
        report.check(f'line {letter["line"]}' in done.stderr, 'and the log names the line', done.stderr)
    report.check(len(letters) == len(BAD) and all(letter.get('id') == (kept or {}).get('id') for letter, (_, _, kept)
                                                  in zip(letters, BAD) if isinstance(kept, dict)),
                 'each has a dead letter, with its id where it has one', letters)
    done = here.work('takt-puppet', '-i', 'jobs')
    report.check(done.returncode == 0 and not done.stdout and len(here.letters('jobs.dead')) == len(BAD),
                 'a rerun does not bury them again', told(done))


def states_amounts(report, here):
    """Each job takes the amount of the unit that its limit counts, also one whose fields were dropped meanwhile."""
    here.write('takt.yaml', 'limits:\n  - name: model\n    rules:\n      - {rate: 1000/h, burst: 1000, counts: requests}\n'
               '      - {rate: 100000/h, counts: tokens, algorithm: fixed-window, align: first-use}\n')
    here.jobs('jobs', [{'id': 'a', 'limit': 'model', 'cost': {'tokens': 500}},
                       {'id': 'b', 'limit': 'model', 'cost': {'tokens': 7}, 'do': ['retry', 'done']},
                       {'id': 'c', 'limit': 'model', 'cost': {'tokens': 90}, 'pad': 'x' * 5000},
                       {'id': 'd', 'limit': 'model', 'cost': {'words': 90}},
                       {'id': 'e', 'limit': 'model', 'cost': 3},
                       {'id': 'f', 'limit': 'model'}])
    done = here.work('takt-puppet', '-i', 'jobs', '--retry-first', '1ms')
    letters = {letter['id']: letter['why'] for letter in here.letters('jobs.dead')}
    report.check(set(results(done.stdout)) == {'a', 'b', 'c'} and here.peek('model')['remaining'] == 99_396,
                 'jobs take the amounts that they state', told(done))
    report.check(set(letters) == {'d', 'e', 'f'} and 'its rules count tokens' in letters['d'] and
                 'state the amount of tokens' in letters['e'] and 'no amount of tokens' in letters['f'], 'or are dead', letters)


def begins_with_a_mark(report, here):
    """A byte order mark belongs to no job, also where a job is read again; anywhere else it is a mistake."""
    mark = b'\xef\xbb\xbf'
    first, second = (json.dumps({'id': name, 'limit': 'fast', 'do': ['retry', 'done']}).encode() for name in 'ab')
    for words, settings in ((['-i', 'jobs'], {}), ([], {'input': mark + first + b'\n' + second})):
        here.jobs('jobs', [mark + first, second])
        done = here.work('takt-puppet', *words, '--retry-first', '1ms', **{'text': not settings, **settings})
        output = done.stdout if isinstance(done.stdout, str) else done.stdout.decode()
        report.check(done.returncode == 0 and set(results(output)) == {'a', 'b'}, 'a mark at the beginning', told(done))
    for name, text in (('alone', [mark]), ('second', [b'', mark + first]), ('twice', [mark + mark + first])):
        here.jobs(name, text)
        done = here.work('takt-puppet', '-i', name)
        report.check((done.returncode, done.stdout) == (0 if name == 'alone' else 1, ''), f'a mark {name}', told(done))


def shows_ids(report, here):
    """An id turns no writing direction, and hides nothing."""
    here.jobs('jobs', [{'id': 'a\u202eb\u200bc', 'limit': 'fast', 'do': ['dead']}])
    for log in ('text', 'json'):
        (here.path / 'jobs.state').unlink(missing_ok=True)
        done = here.work('takt-puppet', '-i', 'jobs', '--log', log)
        report.check('"a\\u202eb\\u200bc"' in done.stderr and not {'\u202e', '\u200b'} & set(done.stderr),
                     f'an id in a log: {log}', told(done))


def attempts(report, here):
    here.jobs('jobs', [{'id': 'third', 'limit': 'fast', 'do': ['retry', 'retry', 'done'], 'text': 'x'},
                       {'id': 'never', 'limit': 'fast', 'do': ['retry']},
                       {'id': 'dead', 'limit': 'fast', 'do': ['dead']},
                       {'id': 'own', 'limit': 'fast', 'idempotency_key': 'mine'}])
    done = here.work('takt-puppet', '-i', 'jobs', '--attempts', '4', '--retry-first', '1ms')
    got = results(done.stdout)
    why = {letter['id']: letter['why'] for letter in here.letters('jobs.dead')}
    report.check(done.returncode == 1 and got['third']['attempt'] == 3, 'what fails is tried again', told(done))
    report.check(why == {'never': 'told to fail (attempt 4 of 4)', 'dead': 'told to die'}
                 and done.stderr.count('started never') == 4, 'but only so often', why)
    report.check((got['third']['key'], got['own']['key']) == ('third', 'mine'), 'the idempotency key is the id, or its '
                 'own', got)
    report.check(sorted(got) == ['own', 'third'], 'what is dead has no result', got)


def a_permit_for_each_attempt(report, here):
    """With one token an hour the second attempt waits, while another limit continues."""
    here.jobs('jobs', [{'id': 'waits', 'limit': 'slow', 'do': ['retry', 'done']}])
    process = here.begin('takt-puppet', '-i', 'jobs', '--retry-first', '1ms', '--log', 'text')
    until(process.stderr.fileno(), b'told to fail')
    here.until_waiting('slow', 1)
    process.terminate()
    status, _, messages = end(process)
    report.check(status == 0, 'an attempt takes a permit of its own', f'{status}\n{messages}')
    done = here.work('takt-puppet', '-i', 'jobs', '-s', 'memory:')
    report.check(done.returncode == 0 and results(done.stdout)['waits']['attempt'] == 2,
                 'and a rerun goes on counting', told(done))


def poison(report, here):
    """A job that ends its worker is dead after as many attempts, not for ever."""
    here.jobs('jobs', [{'id': 'poison', 'limit': 'fast', 'do': ['abort']}, {'id': 'good', 'limit': 'fast'}])
    runs = 0
    while runs < 10:
        runs += 1
        done = here.work('takt-puppet', '-i', 'jobs', '--attempts', '3', '--parallel', '1')
        if done.returncode >= 0:
            break
    why = [letter['why'] for letter in here.letters('jobs.dead')]
    report.check(runs == 4 and done.returncode == 1 and len(why) == 1 and 'started 3 times and never finished' in why[0],
                 'a job that ends its worker is dead after its attempts', f'{runs} runs, {why}\n{told(done)}')
    report.check(list(results(done.stdout)) == ['good'], 'and the rest is done', told(done))


def beside_poison(report, here):
    """What ran beside a job that ends its worker, each time, is done: a job's last attempt runs by itself."""
    here.jobs('jobs', [*({'id': f'beside-{n}', 'limit': 'fast', 'do': ['hold']} for n in range(5)),
                       {'id': 'poison', 'limit': 'fast', 'do': ['abort']}])
    statuses, said = [], ''
    while not statuses or (statuses[-1] < 0 and len(statuses) < 10):
        worker = here.begin('takt-puppet', '-i', 'jobs', '--attempts', '3', '--results', 'results')
        for line in worker.stderr:
            said += line.decode()
            if b'started beside' in line and len(statuses) >= 2:
                worker.send_signal(signal.SIGUSR1)
        statuses.append(end(worker)[0])
    got = results(here.read('results'))
    report.check(statuses == [-signal.SIGABRT] * 3 + [1] and [letter['id'] for letter in here.letters('jobs.dead')]
                 == ['poison'], 'of all that ran when a worker died, again and again, one job is dead',
                 f'{statuses}\n{said}')
    report.check({name: one['attempt'] for name, one in got.items()} ==
                 {f'beside-{n}': 3 for n in range(5)}, 'the job that did it; the others are done', got)


def deadlines(report, here):
    """The slot of the second job is an hour ahead, its deadline a minute: it fails at once."""
    here.jobs('jobs', [{'id': 'first', 'limit': 'slow'},
                       {'id': 'late', 'limit': 'slow', 'deadline': here.instant(seconds=60)}])
    done = here.work('takt-puppet', '-i', 'jobs', '--parallel', '1')
    letters = here.letters('jobs.dead')
    report.check(done.returncode == 1 and list(results(done.stdout)) == ['first']
                 and [letter['id'] for letter in letters] == ['late'] and 'deadline' in letters[0]['why'],
                 'a deadline that cannot be kept is told', told(done))


def steers(report, here):
    here.jobs('jobs', [{'id': 'nothing', 'limit': 'slow', 'do': ['settle'], 'settle': 0},
                       {'id': 'more', 'limit': 'slow'}])
    done = here.work('takt-puppet', '-i', 'jobs', '--parallel', '1')
    report.check(done.returncode == 0 and set(results(done.stdout)) == {'nothing', 'more'},
                 'what was nothing after all is given back', told(done))
    here.jobs('jobs2', [{'id': 'angry', 'limit': 'fast', 'key': 'k', 'do': ['penalize']}])
    done = here.work('takt-puppet', '-i', 'jobs2')
    peek = here.peek('fast:k')
    report.check(done.returncode == 0 and peek['blocked_until_us'] > 0, 'a penalty blocks its limit and key', peek)


def concurrency(report, here):
    here.jobs('jobs', [{'id': str(n), 'limit': 'single', 'key': 'k'} for n in range(20)])
    done = here.work('takt-puppet', '-i', 'jobs')
    got = results(done.stdout)
    report.check(done.returncode == 0 and len({result['fence'] for result in got.values()}) == 20
                 and all(result['held'] for result in got.values()), 'each permit has its number', told(done))


def main():
    report = tap.Report()
    for case in (bad_lines, states_amounts, begins_with_a_mark, shows_ids, attempts, a_permit_for_each_attempt, poison,
                 beside_poison, deadlines, steers, concurrency):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
