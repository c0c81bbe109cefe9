#!/usr/bin/env python3
"""takt-print, the smallest worker: jobs of a file are done, once, and told of."""

from program import results, tap, told, work_place


def does_jobs(report, here):
    here.jobs('jobs', [{'id': str(n), 'limit': 'fast', 'text': f'text {n}'} for n in range(1, 101)])
    done = here.work('takt-print', '-i', 'jobs')
    got = results(done.stdout)
    report.check(done.returncode == 0 and got == {str(n): {'id': str(n), 'text': f'text {n}'} for n in range(1, 101)},
                 'each job of a file gives its result', told(done))
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0 and not done.stdout, 'a rerun has nothing to do', told(done))
    with open(here.path / 'jobs', 'a', encoding='utf-8') as file:
        file.write('{"id": "new", "limit": "fast", "text": "appended"}\n')
    done = here.work('takt-print', '-i', 'jobs')
    report.check(done.returncode == 0 and list(results(done.stdout)) == ['new'], 'but what was appended', told(done))


def reads_standard_input(report, here):
    done = here.work('takt-print', '-l', 'fast', input='{"id": "1", "text": "a"}\n\n{"id": "2", "text": "b"}')
    report.check(done.returncode == 0 and set(results(done.stdout)) == {'1', '2'}, 'jobs come from standard input',
                 told(done))


def main():
    report = tap.Report()
    for case in (does_jobs, reads_standard_input):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
