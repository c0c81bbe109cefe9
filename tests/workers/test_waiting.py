#!/usr/bin/env python3
"""A limit that waits keeps no other from going on, however many jobs wait for it; and what waits is bounded."""

import json
import signal

from program import end, results, tap, told, until, work_place

SLOW = [{'id': f's{n}', 'limit': 'slow', 'text': 'slow'} for n in range(1000)]
FAST = [{'id': f'f{n}', 'limit': 'fast', 'text': 'fast'} for n in range(1000)]


def until_done(process, count):
    """Reads results until there are so many."""
    got = b''
    while got.count(b'\n') < count:
        got += until(process.stdout.fileno(), b'\n')
    return [json.loads(line)['id'] for line in got.decode().splitlines()]


def others_go_on(report, here, name, jobs, *arguments):
    """The slow limit has one slot an hour: a job that waits for it would wait for ever."""
    if name == 'standard input':
        here.jobs('jobs', jobs)
        with open(here.path / 'jobs', 'rb') as source:
            content = source.read()
        process = here.begin('takt-print', *arguments, stdin=-1)
        process.stdin.write(content)
        process.stdin.flush()
    else:
        process = here.begin('takt-print', '-i', here.jobs('jobs', jobs), *arguments)
    ids = until_done(process, 1001)
    process.send_signal(signal.SIGTERM)
    status, rest, messages = end(process)
    ids += [json.loads(line)['id'] for line in rest.splitlines()]
    report.check(status == 0 and sorted(name for name in ids if name[0] == 'f') == sorted(job['id'] for job in FAST),
                 f'{name}: a thousand jobs are done while a thousand wait for another limit',
                 f'{status}, {len(ids)} done\n{messages[-2000:]}')
    report.check([name for name in ids if name[0] == 's'] == ['s0'], 'of which one has had its slot', ids[:20])


def all_orders(report, here):
    mixed = [job for pair in zip(SLOW, FAST) for job in pair]
    for name, jobs in (('the slow ones first', SLOW + FAST), ('mixed', mixed), ('standard input', SLOW + FAST)):
        for number, arguments in enumerate(([], ['--waiting', '10'], ['--parallel', '1', '--waiting', '1'])):
            store = f'file:{here.path}/store-{name[:3]}-{number}/'
            (here.path / f'store-{name[:3]}-{number}').mkdir()
            others_go_on(report, here, name, jobs, '-s', store, *arguments)
            for file in here.path.glob('jobs*'):
                file.unlink()


def by_key(report, here):
    """Keys of one limit are lanes of their own."""
    here.write('takt.yaml', 'limits: [{name: hourly, rules: [{rate: 1/h}]}]\n')
    jobs = [{'id': f'a{n}', 'limit': 'hourly', 'key': 'a', 'text': 'x'} for n in range(100)]
    jobs += [{'id': f'k{n}', 'limit': 'hourly', 'key': f'k{n}', 'text': 'x'} for n in range(100)]
    process = here.begin('takt-print', '-i', here.jobs('jobs', jobs), '--waiting', '2')
    ids = until_done(process, 101)
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 0 and set(ids) == {'a0', *(f'k{n}' for n in range(100))},
                 'a key that waits keeps no other key waiting', f'{sorted(ids)}\n{messages}')


def put_away_and_back(report, here):
    """All that was put away is done in the end, in its order and each once, urgent ones first."""
    jobs = [{'id': str(n), 'limit': 'single', 'text': 'x'} for n in range(3000)]
    jobs.insert(2000, {'id': 'urgent', 'limit': 'single', 'text': 'x', 'priority': 0})
    for source in ('file', 'pipe'):
        text = here.jobs('jobs', jobs)
        with open(text, 'rb') as file:
            content = file.read()
        options = {'input': content.decode()} if source == 'pipe' else {}
        arguments = [] if source == 'pipe' else ['-i', 'jobs']
        done = here.work('takt-print', *arguments, '--waiting', '5', '--parallel', '1', '-s', 'memory:', **options)
        ids = list(results(done.stdout))
        report.check(done.returncode == 0 and [name for name in ids if name != 'urgent'] == [str(n) for n in
                                                                                            range(3000)],
                     f'{source}: what was put away comes back in its order', told(done)[:2000])
        report.check(len(done.stdout.splitlines()) == 3001, 'each of them once', len(ids))


def bounded(report, here):
    """With two jobs put away no more are read: those behind them wait."""
    jobs = SLOW[:10] + FAST[:1]
    process = here.begin('takt-print', '-i', here.jobs('jobs', jobs), '--waiting', '1', '--put-away', '2')
    ids = until_done(process, 1)
    here.until_waiting('slow', 1)
    process.send_signal(signal.SIGTERM)
    status, output, messages = end(process)
    report.check(status == 0 and ids == ['s0'] and not output, 'no more is put away than was said',
                 f'{status} {ids} {output}{messages}')


def no_seat(report, here):
    """A permit that finds no seat is not kept from others; its job is done when there is one."""
    here.jobs('first', [{'id': 'first', 'limit': 'single', 'do': ['hold']}])
    first = here.begin('takt-puppet', '-i', 'first')
    until(first.stderr.fileno(), b'started first')
    here.jobs('jobs', [{'id': 'held', 'limit': 'fast', 'do': ['hold']}, {'id': 'waits', 'limit': 'single'}])
    second = here.begin('takt-puppet', '-i', 'jobs', '--parallel', '1')
    until(second.stderr.fileno(), b'started held')
    here.until_waiting('single', 1)
    first.send_signal(signal.SIGUSR1)
    end(first)
    here.until_waiting('single', 0)
    here.until_peek('single', held=0)
    second.send_signal(signal.SIGUSR1)
    status, output, messages = end(second)
    report.check(status == 0 and list(results(output)) == ['held', 'waits'],
                 'a permit that finds no seat is given back, and its job done later', f'{status}\n{output}{messages}')


def large_jobs(report, here):
    """Texts of nearly 1 MiB: far more than fits into the memory for waiting jobs."""
    filler = 'x' * 1_000_000
    jobs = [{'id': str(n), 'limit': 'single', 'text': 'y', 'filler': filler} for n in range(45)]
    here.jobs('jobs', jobs)
    done = here.work('takt-print', '-i', 'jobs', '--parallel', '1', '-s', 'memory:')
    report.check(done.returncode == 0 and list(results(done.stdout)) == [str(n) for n in range(45)],
                 'long jobs are done in their order', told(done)[:2000])


def other_rules(report, here):
    """The rules of another worker, which came first, never give the job's cost: it asks again until they have gone."""
    here.takt('run', '--rate', '1/h', '--burst', '2', 'differs', '--', 'true')
    here.write('takt.yaml', 'limits: [{name: differs, rules: [{rate: 1/h, burst: 9}]}]\n')
    jobs = here.jobs('jobs', [{'id': 'large', 'limit': 'differs', 'cost': 5, 'text': 'x'}])
    process = here.begin('takt-print', '-i', jobs, '--retry-first', '1ms')
    said = until(process.stderr.fileno(), b'refused text="other workers have rules')
    here.takt('reset', '--rate', '1/h', '--burst', '9', 'differs')
    status, output, messages = end(process)
    report.check(status == 0 and list(results(output)) == ['large'],
                 'a cost that the rules of other workers never give is asked for again', f'{status}\n{said}{messages}')


def main():
    report = tap.Report()
    for case in (all_orders, by_key, put_away_and_back, bounded, no_seat, large_jobs, other_rules):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
