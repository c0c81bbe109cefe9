#!/usr/bin/env python3
"""
`scripts/demo`: it ends with 0 when the quota was kept, and only then. That it would notice is shown on copies of the
script in which the workers do not share a ledger, or in which a job is done twice.
"""

import contextlib
import os
import pathlib
import signal
import subprocess

from command import ends, SOURCE, TAKT, place, tap, told, until

DEMO = SOURCE / 'scripts' / 'demo'

# What is changed, into what; and what the demo then says.
TAMPERED = [
    ('workers with a ledger each', 'map "$limit"', 'map "$limit-$worker"', 'quota: BROKEN'),
    ('a job that is done twice', '"$1" >>"$2"\'', '"$1" >>"$2"; [ "$1" != 7 ] || echo 7 >>"$2"\'', 'jobs: BROKEN: 301 done'),
]


def session(leader):
    """The processes of a session, with their names."""
    found = {}
    for number in map(int, filter(str.isdigit, os.listdir('/proc'))):
        with contextlib.suppress(OSError):
            if os.getsid(number) == leader:
                found[number] = pathlib.Path('/proc', str(number), 'comm').read_text(encoding='utf-8').strip()
    return found


def start(here, script, store=''):
    environment = {**here.environment, 'TMPDIR': str(here.path), 'STORE': store}
    return subprocess.Popen([str(script), TAKT], env=environment, cwd=here.path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


def finish(process):
    """Waits for the end: the output, and the processes that were left behind, which are ended."""
    try:
        output, errors = ends.communicate(process)
    except AssertionError as error:
        output, errors = b'', str(error).encode()
    left = session(process.pid)
    for number in left:
        os.kill(number, signal.SIGKILL)
    ends.wait(process)
    return subprocess.CompletedProcess(process.args, process.returncode, output.decode(), errors.decode()), left


def run(here, script, store=''):
    return finish(start(here, script, store))[0]


def interrupted(report, here, store, number, status):
    """A signal in the middle ends the demo and all that it has started."""
    process = start(here, DEMO, store)
    until(process.stdout.fileno(), b'started')
    if store:
        os.kill(process.pid, number)  # the server hears nothing of it
    else:
        os.killpg(process.pid, number)
    done, left = finish(process)
    report.check(done.returncode == status and not left, f'{signal.Signals(number).name} ends the demo ({store or "file"})',
                 f'{told(done)}\nleft: {left}')


def main():
    report = tap.Report()
    with place() as here:
        before = sorted(os.listdir(here.path))
        del here.environment['TAKT_STORE']
        done = run(here, DEMO)
        report.check(done.returncode == 0 and 'quota: kept' in done.stdout and 'jobs: all 300 done' in done.stdout
                     and 'jobs per worker: 75, 75, 75, 75' in done.stdout, 'the demo keeps the quota', told(done))
        report.check(sorted(os.listdir(here.path)) == before, 'and leaves nothing behind', os.listdir(here.path))

        done = run(here, DEMO, 'redis')
        report.check(done.returncode == 0 and 'in unix:' in done.stdout and 'quota: kept' in done.stdout
                     and 'jobs: all 300 done' in done.stdout, 'also over a private Redis server', told(done))
        report.check(sorted(os.listdir(here.path)) == before, 'and leaves nothing of that behind', os.listdir(here.path))

        text = DEMO.read_text(encoding='utf-8')
        for name, good, bad, words in TAMPERED:
            copy = pathlib.Path(here.write('tampered', text.replace(good, bad)))
            copy.chmod(0o755)
            done = run(here, copy)
            copy.unlink()
            report.check(bad in text.replace(good, bad) and done.returncode == 1 and words in done.stdout,
                         f'it notices {name}', told(done))

        for store, number, status in [('', signal.SIGINT, 130), ('redis', signal.SIGINT, 130), ('redis', signal.SIGTERM, 143),
                                      ('redis', signal.SIGHUP, 129)]:
            interrupted(report, here, store, number, status)
            report.check(sorted(os.listdir(here.path)) == before, 'with nothing left behind', os.listdir(here.path))
    report.end()


if __name__ == '__main__':
    main()
