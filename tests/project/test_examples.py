#!/usr/bin/env python3
"""
The examples do what they say: each runs with its own policy (or, where that would take seconds, with a quicker one) on a
store in memory, and the rest of this file reads what it prints. Each is short, and README.md leads to it.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402

SOURCE = pathlib.Path(os.environ['TAKT_SOURCE']) / 'examples'
BUILD = pathlib.Path(os.environ['TAKT_BUILD']) / 'examples'
QUICK = 'limits:\n  - name: mail\n    rules: [{rate: 2000/s}]\n'
LONGEST = 80


def start(name, *words, policy=None):
    """Starts an example beside a policy; it has read it when it has written or ended."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'takt.yaml').write_text(policy or (SOURCE / 'takt.yaml').read_text())
        process = subprocess.Popen([BUILD / f'example-{name}', *words], cwd=folder, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=dict(os.environ, TAKT_STORE='memory:'))
        yield process
        process.kill()
        ends.wait(process)


def run(name, *words, policy=None, given=''):
    """Its output."""
    for process in start(name, *words, policy=policy):
        said, _ = ends.communicate(process, given)
        return said + ('' if process.returncode == 0 else f'ended with {process.returncode}')


def worker(report):
    said = run('worker', policy=QUICK)
    report.check(said == 'a job starts\n' * 100, 'worker: each job starts', said)
    said = run('worker', policy='limits: []')
    report.check('takt.yaml:1: ' in said and 'ended with 1' in said, 'worker: a policy that is none', said)


def threads(report):
    said = run('threads', policy=QUICK)
    report.check(said == 'job: go\n' * 100, 'threads: each job goes', said)


def api(report):
    said = run('api', *['ann'] * 6, 'bob')
    report.check(said.count('200 OK') == 6 and said.count('ann: HTTP/1.1 429') == 1,
                 'api: ann may ask five times at once, and bob has a limit of his own', said)
    report.check(re.search(r'Retry-After: [1-6]\r?\n', said), 'api: who is sent away is told until when', said)
    report.check(said.count('RateLimit-Policy: "api"') == 7, 'api: each is told how the limit stands', said)


def jobs(report):
    said = run('jobs', given='monday\ntuesday\nwednesday\n')
    done = re.findall(r'^(\w+): report written, permit (\d+)$', said, re.M)
    report.check(sorted(name for name, _ in done) == ['monday', 'tuesday', 'wednesday']
                 and len(said.splitlines()) == 3, 'jobs: each is done', said)
    report.check(len({number for _, number in done}) == 3, 'jobs: each has a number of its own', said)
    slow = 'limits: [{name: reports, rules: [{rate: 1/h}]}]'
    for process in start('jobs', policy=slow):
        process.stdin.write('first\nsecond\nthird\n')
        process.stdin.close()
        said = ends.line(process) + '\n'
        process.send_signal(signal.SIGTERM)
        said += ends.communicate(process)[0]
        report.check(process.returncode == 0 and 'second: left: ' in said and 'third: left: ' in said,
                     'jobs: after SIGTERM what waits is left', said)


def priorities(report):
    said = run('priorities')
    report.check(said == 'new password: sent\n' + 'newsletter: sent\n' * 5, 'priorities: the urgent one goes first', said)


def settle(report):
    said = run('settle', 'hello', 'who are you')
    report.check(said == 'hello: 50 tokens\nwho are you: 110 tokens\n59840 of 60000 tokens are left of this minute\n',
                 'settle: what was not needed is given back', said)


def vendors(report):
    """With the policies of docs/vendors.md, as one."""
    page = (SOURCE.parent / 'docs' / 'vendors.md').read_text()
    policies = re.findall(r'^```yaml\nlimits:\n(.*?)^```$', page, re.S | re.M)
    said = run('vendors', policy='limits:\n' + ''.join(policies))
    report.check(len(policies) == 3 and said.startswith('model: 429\nmodel: 200\nmail: 200\nshop: 200\nmodel: '),
                 'vendors: all are called', said)
    # A process that the machine stopped hands its slot back, and one of its requests stays in the log (lib/rules/log.h).
    for left in ('model: 49[0-8] requests left', 'mail: 49950 recipients left', 'shop: ([89]|1[0-2]) requests left'):
        report.check(re.search(f'^{left}$', said, re.M), f'vendors: {left}', said)


def main():
    report = tap.Report()
    readme = (SOURCE.parent / 'README.md').read_text()
    parts = {part.__name__: part for part in (worker, threads, api, jobs, priorities, settle, vendors)}
    names = sorted(path.stem for path in SOURCE.glob('*.c'))
    report.check(names == sorted(parts), 'every example is run here', names)
    for name in names:
        size = len((SOURCE / f'{name}.c').read_text().splitlines())
        report.check(size <= LONGEST and f'examples/{name}.c' in readme, f'{name}.c is short, and README.md leads to it', size)
    for part in parts.values():
        part(report)
    report.end()


main()
