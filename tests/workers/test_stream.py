#!/usr/bin/env python3
"""Workers of a Redis stream: they share it, none is held up by one limit, and what one leaves the others do."""

import signal
import sys

from program import end, until
from stream import ids, stream, tap, told


def never_blocked(report, here):
    """One job of the slow limit can start within the hour, at any place in the stream."""
    here.add([{'id': f'{limit}-{number}', 'limit': limit, 'text': 'x'}
              for number in range(1000) for limit in ('slow', 'fast')])
    worker = here.begin('takt-print', results='out')
    found = here.until_results('out', 1001)
    fast = [result['id'] for result in found if result['id'].startswith('fast')]
    report.check(len(fast) == 1000 and len(set(fast)) == 1000, '1000 jobs go past 999 that wait for their limit',
                 found[-1])
    here.until('what is done is deleted', lambda shown: shown['length'] == 999)
    worker.terminate()
    status, _, messages = end(worker)
    report.check(status == 0, 'the worker drains: 0', messages)
    shown = here.show()
    report.check([(one['name'], one['taken']) for one in shown['consumers']] == [('given-back', 999)]
                 and shown['length'] == 999, 'and keeps nothing, not even its name', shown)


def shared(report, here):
    workers = [here.begin('takt-print', results=f'out{number}') for number in range(2)]
    here.until_reading(2)
    here.add([{'id': str(number), 'limit': 'fast', 'text': 'x', 'ms': 5} for number in range(1500)])
    here.until('all is done', lambda shown: shown['length'] == 0)
    for worker in workers:
        worker.terminate()
        end(worker)
    found = [here.results(f'out{number}') for number in range(2)]
    report.check(ids(found[0] + found[1]) == sorted(str(number) for number in range(1500)),
                 'two workers do each job once', [len(one) for one in found])
    report.check(all(found), 'and each does some', [len(one) for one in found])


def killed(report, here):
    """A killed worker: jobs that it had begun are tried again, waiting ones are as new."""
    here.add([{'id': f'held-{number}', 'limit': 'fast', 'do': ['hold', 'done']} for number in range(10)]
             + [{'id': f'waits-{number}', 'limit': 'fast'} for number in range(90)])
    worker = here.begin('takt-puppet', '--parallel', 10)
    got = b''
    while got.count(b'started') < 10:
        got += until(worker.stderr.fileno(), b'\n')
    report.check(here.show()['taken'] == 100, 'a worker has what it does and what waits', here.show())
    worker.kill()
    done = here.work('takt-puppet', '--take-over-after', '500ms', '--results', 'out')
    found = here.results('out')
    report.check(done.returncode == 0 and len(found) == 100, 'after kill -9 another worker does its jobs', told(done))
    report.check({(one['id'].split('-')[0], one['attempt']) for one in found} == {('held', 2), ('waits', 1)},
                 'and knows which were begun before', found)


def forgotten(report, here):
    """Of a killed worker not even the name remains in the end; a living one keeps its jobs."""
    here.add([{'id': 'held', 'limit': 'fast', 'do': ['hold', 'hold']}])
    worker = here.begin('takt-puppet', '--take-over-after', '100ms')
    until(worker.stderr.fileno(), b'started held')
    names = [one['name'] for one in here.show()['consumers']]
    worker.kill()
    end(worker)
    other = here.begin('takt-puppet', '--take-over-after', '100ms', results='out')
    until(other.stderr.fileno(), b'started held')
    here.until('the name of the dead one is gone', lambda shown: len(shown['consumers']) == 1
               and shown['consumers'][0]['name'] not in names and shown['consumers'][0]['taken'] == 1)
    other.send_signal(signal.SIGUSR1)
    found = here.until_results('out', 1)
    report.check(found[0]['attempt'] == 2, 'the name of a worker that was killed goes when its jobs have gone', found)
    other.terminate()
    end(other)


def drained(report, here):
    """No worker takes over entries within the hour, except those that were given back."""
    here.add([{'id': 'held', 'limit': 'fast', 'do': ['hold']}]
             + [{'id': f'waits-{number}', 'limit': 'fast'} for number in range(99)])
    worker = here.begin('takt-puppet', '--parallel', 1, '--take-over-after', '1h')
    until(worker.stderr.fileno(), b'started held')
    here.until('it has them all', lambda shown: shown['taken'] == 100)
    worker.send_signal(signal.SIGTERM)
    here.until('all but one are given back', lambda shown: {'given-back': 99} == {
        one['name']: one['taken'] for one in shown['consumers'] if one['taken'] > 1})
    worker.send_signal(signal.SIGUSR1)
    report.check(end(worker)[0] == 0, 'on SIGTERM what waits is given back, what runs may end')
    done = here.work('takt-puppet', '--take-over-after', '1h', '--results', 'out')
    found = here.results('out')
    report.check(done.returncode == 0 and len(found) == 99 and {one['attempt'] for one in found} == {1},
                 'and others have it at once, as new', told(done))


def frozen(report, here):
    """A worker that was silent for too long finds that other workers have its jobs, and leaves them alone."""
    here.add([{'id': str(number), 'limit': 'slow'} for number in range(50)])
    workers = [here.begin('takt-puppet', '--take-over-after', '500ms', results='out0')]
    here.until_slow_result('out0')
    here.until('it has the rest', lambda shown: shown['taken'] == 49 == shown['length'])
    workers[0].send_signal(signal.SIGSTOP)
    first = here.show()['consumers'][0]['name']
    workers.append(here.begin('takt-puppet', '--take-over-after', '500ms', results='out1'))
    here.until('another one has taken them over', lambda shown: any(
        one['taken'] == 49 and one['name'] != first for one in shown['consumers']))
    workers[0].send_signal(signal.SIGCONT)
    until(workers[0].stderr.fileno(), b'lost')
    workers[0].terminate()
    messages = end(workers[0])[2]
    here.until('all are the other one\'s', lambda shown: [one['taken'] for one in shown['consumers']] == [49])
    here.here.takt('reset', 'slow')
    here.until_slow_result('out1')
    workers[1].terminate()
    end(workers[1])
    found = ids(here.results('out0') + here.results('out1'))
    report.check(len(found) == len(set(found)), 'what was taken over while a worker slept is not done by both', messages)


def poison(report, here):
    """A job that ends its worker does so as often as a job may be tried, and what waits beside it does not suffer."""
    here.add([{'id': 'poison', 'limit': 'fast', 'do': ['abort']}]
             + [{'id': f'fine-{number}', 'limit': 'fast'} for number in range(50)])
    statuses = []
    while not statuses or (statuses[-1] == -signal.SIGABRT and len(statuses) < 10):
        done = here.work('takt-puppet', '--attempts', 3, '--parallel', 1, '--take-over-after', '300ms',
                         '--results', f'out{len(statuses)}')
        statuses.append(done.returncode)
    report.check(statuses == [-signal.SIGABRT] * 3 + [1], 'a job that ends its worker does so three times', statuses)
    letters = here.dead()
    report.check([(letter['id'], letter['job']['do']) for letter in letters] == [('poison', ['abort'])]
                 and 'started 3 times' in letters[0]['why'], 'then it is a dead letter', letters)
    found = {one['id'] for number in range(4) for one in here.results(f'out{number}')}
    report.check(len(found) == 50 and here.show()['length'] == 0, 'and the others are done', found)


def until_it_works(report, here):
    """Tried again by the same worker, with the count in the server."""
    here.add([{'id': 'fails', 'limit': 'fast', 'do': ['retry', 'retry', 'done']},
              {'id': 'dies', 'limit': 'fast', 'do': ['retry']}])
    done = here.work('takt-puppet', '--retry-first', '1ms', '--attempts', 3, '--results', 'out')
    found = [(one['id'], one['attempt']) for one in here.results('out')]
    report.check(done.returncode == 1 and found == [('fails', 3)],
                 'a job is tried again until it is done', told(done))
    report.check([letter['id'] for letter in here.dead()] == ['dies'] and here.show()['length'] == 0,
                 'or was tried often enough', here.dead())


def put_away(report, here):
    """More than are held in memory: only their names are, and their texts are read again."""
    here.add([{'id': str(number), 'limit': 'fast', 'text': 'x' * 100} for number in range(500)])
    done = here.work('takt-print', '--waiting', 10, '--parallel', 2, '--results', 'out')
    report.check(done.returncode == 0 and ids(here.results('out')) == sorted(str(number) for number in range(500)),
                 'jobs that were put away are done once each', told(done))


def main():
    report = tap.Report()
    for case in (never_blocked, shared, killed, forgotten, drained, frozen, poison, until_it_works, put_away):
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        with stream() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
