#!/usr/bin/env python3
"""
Runs the commands of README.md and the pages as they are, from top to bottom, in a folder with the jobs and programs
that they name. The list below has the exceptions and their reasons.
"""

import contextlib
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / 'cli'), str(TESTS / 'workers')]
from program import BUILD, SOURCE, ends, tap, told, work_place  # noqa: E402

import redis_server  # noqa: E402

# Programs of the reader's own.
OWN = {'send-one-mail': 'echo sent', 'send-to': '[ "$1" ] && echo "sent to $1"', 'send-mail': '[ "$2" ]', 'backup': 'true'}

# Files that the reader has.
FILES = {
    'addresses.txt': 'ann@example.org\nbob@example.org\n',
    'arrivals.txt': '0\n0 3\n9.5 2\n',
    'prod.yaml': 'limits:\n  - {name: mail, rules: [{rate: 20/s}]}\n',
}

# docs/command.md's own limits.
LIMITS = '''limits:
  - {name: mail, rules: [{rate: 20/s}, {rate: 600/min, burst: 100}]}
  - {name: api, concurrency: 20, rules: [{rate: 100/s, burst: 10}]}
'''

# What a block begins with -> the page it stands in, and the lines of it that are left out: servers that run until they are
# stopped, what calls another host, and what judges a server (cli/test_doctor.py does that).
ELSEWHERE = r'takt exporter|doctor -s redis|example\.com[:/]|example\.com api|--smtp|answers\.jsonl'
BLOCKS = [
    ('README.md', 'takt run mail --rate', None),
    ('README.md', 'takt simulate', None),
    ('README.md', 'takt check', ELSEWHERE),
    ('README.md', 'takt apply --dry-run', None),
    ('docs/command.md', 'takt run mail --rate', None),
    ('docs/command.md', 'takt run mail -- ', None),
    ('docs/command.md', 'takt run --concurrency 1', None),
    ('docs/command.md', 'takt map mail -j 8 -i addresses.txt --undone', '-i rest.txt'),  # what a Ctrl-C leaves
    ('docs/command.md', 'takt check', None),
    ('docs/command.md', 'takt apply', None),
    ('docs/command.md', 'takt policy', None),
    ('docs/command.md', 'takt top', None),
    ('docs/command.md', 'takt peek', None),
    ('docs/command.md', 'takt block', None),
    ('docs/command.md', 'takt penalize', None),
    ('docs/command.md', 'takt doctor', ELSEWHERE),
    ('docs/command.md', 'takt simulate', None),
    ('docs/mail.md', 'cat > takt.yaml', ELSEWHERE),
    ('docs/call.md', 'cat > takt.yaml', ELSEWHERE + '(?!/v1)'),
    ('docs/workers.md', 'cat > takt.yaml', None),
    ('docs/streams.md', 'export TAKT_STORE', '--smtp'),
    ('docs/policy.md', 'takt check', None),
    ('docs/policy.md', 'takt apply', None),
    ('docs/redis.md', 'takt run', ELSEWHERE),
    ('docs/file-store.md', 'takt run', None),
]

PASSWORD = 'canary-7e3d-password'

# Commands whose status is no failure.
STATUS = {'takt apply --dry-run': 1}


def blocks(page, language='sh'):
    return re.findall(r'^```' + language + r'\n(.*?)^```$', (SOURCE / page).read_text(encoding='utf-8'), re.S | re.M)


def commands(block, without):
    """Line by line; a here-document belongs to its line."""
    lines = iter(block.splitlines())
    for line in lines:
        if not line.strip():
            continue
        whole = [line]
        if "<<'END'" in line:
            for inner in lines:
                whole.append(inner)
                if inner == 'END':
                    break
        elif without and re.search(without, line):
            continue
        yield '\n'.join(whole)


def prepare(here):
    """The reader's folder; the programs of the build are found as installed ones are."""
    (here.path / 'bin').mkdir()
    for name in ('cli/takt', 'workers/mail/takt-mail', 'workers/call/takt-call', 'workers/jobs_tool/takt-jobs'):
        (here.path / 'bin' / name.rsplit('/', 1)[1]).symlink_to(BUILD.resolve() / name)
    for name, text in OWN.items():
        here.write(name, f'#!/bin/sh\n{text}\n')
        (here.path / name).chmod(0o755)
    for name, text in FILES.items():
        here.write(name, text)
    here.environment['PATH'] = f'{here.path}/bin:{here.environment["PATH"]}'


def run(report, here, page, block, without, replaced):
    """All commands of a block in one shell, so that what one of them exports holds for the next."""
    script = ''.join(f'{command}\nstatus=$?; [ $status = 0 ] || [ $status = {allowed(command)} ] || '
                     f'{{ echo "status $status of:" {quoted(command)} >&2; exit 1; }}\n'
                     for command in commands(block, without))
    for old, new in replaced.items():
        script = script.replace(old, new)
    done = ends.run(['sh', '-c', script], cwd=here.path, env=here.environment, text=True, capture_output=True, input='')
    report.check(script and done.returncode == 0, f'{page}: {block.splitlines()[0][:60]}', script + told(done))


def allowed(command):
    return next((status for start, status in STATUS.items() if command.startswith(start)), 0)


def quoted(command):
    return "'" + command.splitlines()[0].replace("'", '"') + "'"


@contextlib.contextmanager
def reachable(here):
    """What stands for the pages' server and folder, with the ACL user that they name."""
    port = redis_server.free_port()
    with redis_server.server(here.path, port=str(port)) as server:
        server.say('ACL', 'SETUSER', 'worker', 'on', '>' + PASSWORD, '~*', '&*', '+@all')
        here.environment['TAKT_REDIS_PASSWORD'] = PASSWORD
        yield {'redis.internal': f'127.0.0.1:{port}', '/var/lib/mailer': f'{here.path}/mailer'}


def main():
    report = tap.Report()
    for page in dict.fromkeys(page for page, _, _ in BLOCKS):
        with work_place() as here, reachable(here) as replaced:
            prepare(here)
            own = [text for text in blocks(page, 'yaml') if re.search('^limits:', text, re.M)]
            here.write('takt.yaml', own[0] if own else LIMITS)
            here.write('limits.yaml', LIMITS)
            here.jobs('jobs.jsonl', [{'id': 'm-1', 'limit': 'mail'}])
            (here.path / 'mailer').mkdir()
            for start, without in ((start, without) for name, start, without in BLOCKS if name == page):
                found = [block for block in blocks(page) if block.startswith(start)]
                if report.check(found, f'{page} shows {start}'):
                    run(report, here, page, found[0], without, replaced)
    report.end()


main()
