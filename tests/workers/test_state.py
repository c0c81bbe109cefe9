#!/usr/bin/env python3
"""
The state of done jobs is kept beside the file: the next run continues after any end of the last one, and notices a
changed file.
"""

import json
import os
import resource
import signal

from program import end, results, tap, told, until, work_place

ALL = [{'id': str(n), 'limit': 'fast', 'text': f'text {n}'} for n in range(200)]


def killed(report, here):
    """kill -9 while four run: nothing is lost, and only those four are begun again."""
    jobs = [dict(job, do=['hold', 'done']) if int(job['id']) % 50 == 0 else job for job in ALL]
    process = here.begin('takt-puppet', '-i', here.jobs('jobs', jobs), '--results', 'results')
    started = b''
    while started.count(b'started') < len(ALL):
        started += until(process.stderr.fileno(), b'\n')
    here.until_lines('jobs.state', len(ALL) * 2 - 4 + 1)
    process.kill()
    end(process)
    first = results(here.read('results'))
    done = here.work('takt-puppet', '-i', 'jobs')
    again = results(done.stdout)
    report.check(len(first) == 196 and done.returncode == 0 and sorted(again) == ['0', '100', '150', '50'],
                 'after kill -9 what ran is done again, and nothing else', f'{len(first)}\n{told(done)}')
    report.check(all(result['attempt'] == 2 for result in again.values()), 'as its second attempt', again)
    done = here.work('takt-puppet', '-i', 'jobs')
    report.check(done.returncode == 0 and not done.stdout, 'and then all is done', told(done))


def killed_again_and_again(report, here):
    """Wherever it is killed, each job has a result in the end."""
    here.jobs('jobs', [dict(job, ms=5) for job in ALL])
    runs = 0
    while True:
        runs += 1
        process = here.begin('takt-print', '-i', 'jobs', '--results', 'results', '--parallel', '3', '--attempts', '100')
        before = here.size('jobs.state')
        while process.poll() is None and here.size('jobs.state') - before < 60 * runs:
            pass
        process.kill()
        status, _, messages = end(process)
        if status == 0 or runs > 200:
            break
    got = [json.loads(line)['id'] for line in here.read('results').splitlines()]
    report.check(status == 0 and set(got) == {job['id'] for job in ALL}, f'killed {runs - 1} times, nothing is lost',
                 f'{status}, {len(set(got))}\n{messages}')
    records = here.letters('jobs.state')[1:]
    begun = {job['id']: 0 for job in ALL}
    for record in records:
        begun[str(record['line'] - 1)] += record['status'] == 'begun'
    done = [record['line'] for record in records if record['status'] == 'done']
    report.check(len(done) == len(set(done)) == 200 and all(got.count(name) <= begun[name] for name in begun),
                 'and what was done is not begun again',
                 f'{len(done)} done, {sum(begun.values())} begun, {runs} runs')


def torn(report, here):
    """A record that was cut off counts for nothing."""
    here.jobs('jobs', ALL)
    here.work('takt-print', '-i', 'jobs')
    text = here.read('jobs.state')
    here.write('jobs.state', text[:-9])
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0 and len(results(done.stdout)) == 1, 'a record that was cut off is begun again',
                 told(done))
    here.write('jobs.state', text.replace('"done"', '"dnoe"', 1))
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 66 and 'jobs.state:' in done.stderr and 'remove the file' in done.stderr,
                 'what is no record is refused', told(done))
    here.write('jobs.state', '{"takt":"state","version":2}\n')
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 66 and 'jobs.state:1' in done.stderr, 'and another version', told(done))
    for text in ('one line without an end', '{"takt":"state","version":2}'):
        here.write('jobs.state', text)
        done = here.work('takt-print', '-i', 'jobs')
        report.check(done.returncode == 66 and 'jobs.state:1' in done.stderr and here.read('jobs.state') == text,
                     'and what is another file, which stays as it was', told(done))
    here.write('jobs.state', '{"takt":"sta')
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0, 'a beginning that was cut off is begun again', told(done))


def far(report, here):
    """Memory goes by the size of the file, not by the numbers in it."""
    here.jobs('jobs', ALL[:3])
    here.write('jobs.state', '{"takt":"state","version":1}\n{"line":1500000000,"sum":"90b2d1","status":"done"}\n')
    done = here.work('takt-print', '-i', 'jobs')
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    report.check(done.returncode == 74 and 'only 3 lines' in done.stderr and used < 1 << 20,
                 'a record of a line far away takes no memory', f'{used} KiB\n{told(done)}')


def changed(report, here):
    here.jobs('jobs', ALL)
    here.work('takt-print', '-i', 'jobs')
    here.jobs('jobs', [*ALL[:100], dict(ALL[100], text='other'), *ALL[101:]])
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 74 and 'jobs:101' in done.stderr and 'was changed' in done.stderr
                 and 'append' in done.stderr, 'a changed line is refused', told(done))
    here.jobs('jobs', ALL[:-5])
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 74 and 'only 195 lines' in done.stderr, 'and a file with fewer lines', told(done))
    here.jobs('jobs', [*ALL, {'id': 'new', 'limit': 'fast', 'text': 'x'}])
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0 and list(results(done.stdout)) == ['new'], 'but not one with more', told(done))


def locked(report, here):
    here.jobs('jobs', [{'id': '1', 'limit': 'fast', 'do': ['hold']}])
    process = here.begin('takt-puppet', '-i', 'jobs')
    until(process.stderr.fileno(), b'started 1')
    done = here.work('takt-puppet', '-i', 'jobs')
    report.check(done.returncode == 66 and 'another worker' in done.stderr and 'stream' in done.stderr,
                 'a second worker is refused', told(done))
    process.send_signal(signal.SIGUSR1)
    status, output, messages = end(process)
    report.check(status == 0 and list(results(output)) == ['1'], 'and does not disturb the first', messages)


def elsewhere(report, here):
    """--state and --dead; standard input has neither by itself."""
    lines = ''.join(json.dumps(job) + '\n' for job in ALL[:3]) + 'no job\n'
    done = here.work('takt-print', input=lines)
    report.check(done.returncode == 1 and len(results(done.stdout)) == 3 and 'line 4' in done.stderr
                 and not list(here.path.glob('*.state')), 'standard input is not kept', told(done))
    for expected in (3, 0):
        done = here.work('takt-print', '--state', 'my.state', '--dead', 'my.dead', input=lines)
        report.check(len(results(done.stdout)) == expected and len(here.letters('my.dead')) == 1,
                     f'but with --state: {expected} are done', told(done))
    here.jobs('jobs', ALL[:3])
    done = here.work('takt-print', '-i', 'jobs', '--state', 'nowhere/state')
    report.check(done.returncode == 66 and 'nowhere/state' in done.stderr and '--state' in done.stderr,
                 'a state that cannot be kept is refused', told(done))
    done = here.work('takt-print', '-i', 'nowhere')
    report.check(done.returncode == 66 and 'cannot read nowhere' in done.stderr, 'and a file that is not there',
                 told(done))


def one_use_each(report, here):
    """A file that had two uses would be destroyed by one of them: nothing is begun."""
    jobs = here.jobs('jobs', ALL[:3])
    os.link(jobs, here.path / 'link')
    before = here.read('jobs')
    for options, words in ((['--results', './jobs'], '--input and --results'),
                           (['--results', 'link'], '--input and --results'),
                           (['--metrics-file', 'jobs'], '--input and --metrics-file'),
                           (['--dead', 'jobs'], '--input and --dead'), (['--state', 'jobs'], '--input and --state'),
                           (['--results', './jobs.state'], '--state and --results'),
                           (['--state', 'new', '--dead', './new'], '--state and --dead'),
                           (['--policy', 'takt.yaml', '--metrics-file', './takt.yaml'], '--policy and --metrics-file')):
        done = here.work('takt-print', '-i', 'jobs', *options)
        report.check(done.returncode == 64 and words in done.stderr and 'the same file' in done.stderr,
                     f'{" ".join(options)}: refused', told(done))
    with open(jobs, 'rb') as read, open(jobs, 'ab') as written:
        done = here.work('takt-print', capture_output=False, stdin=read, stdout=written, stderr=-1)
    report.check(done.returncode == 64 and 'standard output' in done.stderr, 'so are < and >> of one file', told(done))
    report.check(here.read('jobs') == before and not (here.path / 'jobs.state').exists(), 'and nothing was written')
    done = here.work('takt-print', '-i', 'jobs', '--results', '/dev/null', '--dead', '/dev/null')
    report.check(done.returncode == 0, 'what is no regular file may have two uses', told(done))


def full_disk(report, here):
    """Where nothing can be written down nothing is started."""
    here.jobs('jobs', ['no job', *ALL[:3]])
    process = here.begin('takt-print', '-i', 'jobs', '--dead', '/dev/full')
    said = until(process.stderr.fileno(), b'no job starts')
    process.send_signal(signal.SIGTERM)
    status, output, messages = end(process)
    report.check(not output and b'No space left' in said, 'on a full disk nothing is started', f'{status}{output}{said}')


def nobody_reads(report, here):
    here.jobs('jobs', ALL)
    reader, writer = os.pipe()
    os.close(reader)
    done = here.work('takt-print', '-i', 'jobs', capture_output=False, stdout=writer, stderr=-1)
    os.close(writer)
    report.check(done.returncode == 74 and 'cannot write results' in done.stderr, 'results that nobody reads: 74',
                 told(done))
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0 and len(results(done.stdout)) == 200, 'and no job is done without its result',
                 told(done))


def main():
    report = tap.Report()
    for case in (killed, killed_again_and_again, torn, far, changed, locked, elsewhere, one_use_each, full_disk,
                 nobody_reads):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
