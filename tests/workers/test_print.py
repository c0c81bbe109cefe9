#!/usr/bin/env python3
"""takt-print, the smallest worker: jobs of a file are done once, and reported."""

from program import SOURCE, results, tap, told, work_place

OPTIONS = ['policy', 'store', 'limit', 'input', 'state', 'dead', 'stream', 'redis', 'group', 'take-over-after',
           'until-empty', 'attempts', 'retry-first', 'retry-longest', 'parallel', 'waiting', 'put-away', 'results',
           'drain', 'log', 'metrics-file', 'status']

# A command line, the exit status, and words of the message.
WRONG = [
    (['jobs'], 64, 'jobs are read from --input'),
    (['--attempts', '0'], 64, '--attempts takes a whole number from 1 to 100, not "0"'),
    (['--parallel', 'many'], 64, '--parallel takes a whole number'),
    (['--retry-first', '1.5s'], 64, '--retry-first'),
    (['--drain', '0s'], 64, '--drain must be longer than 0'),
    (['--log', 'xml'], 64, '--log takes auto, text, json or none'),
    (['--stream', 's', '-i', 'jobs'], 64, '--stream replaces a file'),
    (['--redis', 'redis://localhost'], 64, 'belong to --stream NAME'),
    (['--group', 'night'], 64, 'belong to --stream NAME'),
    (['--take-over-after', '5s'], 64, 'belong to --stream NAME'),
    (['--limit', 'none'], 64, 'the policy has no limit of that name'),
    (['--policy', 'gone.yaml'], 78, 'gone.yaml'),
    (['--store', 'nonsense://'], 78, 'nonsense'),
    (['-i', 'gone'], 66, 'cannot read gone'),
    (['--results', 'gone/results'], 73, 'cannot write results to gone/results'),
]


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


def warns_of_misspelt_fields(report, here):
    here.jobs('kye', [{'id': str(n), 'limit': 'fast', 'kye': 'a', 'host': 'h', 'text': 'a'} for n in range(3)])
    done = here.work('takt-print', '-i', 'kye')
    warnings = [line for line in done.stderr.splitlines() if 'did you mean' in line]
    report.check(done.returncode == 0 and len(results(done.stdout)) == 3 and len(warnings) == 1 and
                 'job "0": takt does not know the field "kye"; did you mean "key"?' in warnings[0].replace('\\', ''),
                 'a misspelt field gives one warning, and the jobs are done', told(done))


def reads_standard_input(report, here):
    done = here.work('takt-print', '-l', 'fast', input='{"id": "1", "text": "a"}\n\n{"id": "2", "text": "b"}')
    report.check(done.returncode == 0 and set(results(done.stdout)) == {'1', '2'}, 'jobs come from standard input',
                 told(done))


def is_in_the_docs(report, _):
    source = (SOURCE / 'workers/print/print.c').read_text(encoding='utf-8')
    report.check(f'```c\n{source}```\n' in (SOURCE / 'docs/workers.md').read_text(encoding='utf-8'),
                 'docs/workers.md shows workers/print/print.c as it is')


def helps(report, here):
    done = here.work('takt-print', '--help')
    report.check(done.returncode == 0 and all(f'--{word}' in done.stdout for word in OPTIONS) and 'Exit status' in
                 done.stdout, '--help shows all options', told(done))
    done = here.work('takt-print', '--version')
    report.check(done.returncode == 0 and done.stdout.startswith('takt-print '), '--version', told(done))
    for arguments, status, words in WRONG:
        done = here.work('takt-print', *arguments)
        report.check(done.returncode == status and words in done.stderr, f'{" ".join(arguments)}: {status}', told(done))


def main():
    report = tap.Report()
    for case in (does_jobs, warns_of_misspelt_fields, reads_standard_input, is_in_the_docs, helps):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
