#!/usr/bin/env python3
"""
`scripts/demo`: it ends with 0 when the quota was kept, and only then. That it would notice is shown on copies of the
script in which the workers do not share a ledger, or in which a job is done twice.
"""

import os
import pathlib
import signal
import subprocess

from command import DEADLINE, SOURCE, TAKT, place, tap, told, until

DEMO = SOURCE / 'scripts' / 'demo'

# What is changed, into what; and what the demo then says.
TAMPERED = [
    ('workers with a ledger each', 'map "$limit"', 'map "$limit-$worker"', 'quota: BROKEN'),
    ('a job that is done twice', '"$1" >>"$2"\'', '"$1" >>"$2"; [ "$1" != 7 ] || echo 7 >>"$2"\'', 'jobs: BROKEN: 301 done'),
]


def run(here, script):
    return subprocess.run([str(script), TAKT], env={**here.environment, 'TMPDIR': str(here.path)}, cwd=here.path,
                          capture_output=True, text=True, timeout=DEADLINE, check=False)


def main():
    report = tap.Report()
    with place() as here:
        before = sorted(os.listdir(here.path))
        del here.environment['TAKT_STORE']
        done = run(here, DEMO)
        report.check(done.returncode == 0 and 'quota: kept' in done.stdout and 'jobs: all 300 done' in done.stdout
                     and 'jobs per worker: 75, 75, 75, 75' in done.stdout, 'the demo keeps the quota', told(done))
        report.check(sorted(os.listdir(here.path)) == before, 'and leaves nothing behind', os.listdir(here.path))

        here.environment['STORE'] = 'redis'
        done = run(here, DEMO)
        report.check(done.returncode == 0 and 'in unix:' in done.stdout and 'quota: kept' in done.stdout
                     and 'jobs: all 300 done' in done.stdout, 'also over a private Redis server', told(done))
        report.check(sorted(os.listdir(here.path)) == before, 'and leaves nothing of that behind', os.listdir(here.path))
        del here.environment['STORE']

        text = DEMO.read_text(encoding='utf-8')
        for name, good, bad, words in TAMPERED:
            copy = pathlib.Path(here.write('tampered', text.replace(good, bad)))
            copy.chmod(0o755)
            done = run(here, copy)
            copy.unlink()
            report.check(bad in text.replace(good, bad) and done.returncode == 1 and words in done.stdout,
                         f'it notices {name}', told(done))

        with subprocess.Popen([str(DEMO), TAKT], env={**here.environment, 'TMPDIR': str(here.path)}, cwd=here.path,
                              stdout=subprocess.PIPE, start_new_session=True) as process:
            until(process.stdout.fileno(), b'started')
            os.killpg(process.pid, signal.SIGINT)
            status = process.wait(timeout=DEADLINE)
        report.check(status == 130 and sorted(os.listdir(here.path)) == before, 'Ctrl-C ends it, with nothing left behind',
                     f'{status} {os.listdir(here.path)}')
    report.end()


if __name__ == '__main__':
    main()
