#!/usr/bin/env python3
"""`takt` itself: help, version, misspelt commands; and `takt check`."""

import json
import os
import shutil

from command import TAKT, ends, place, tap, told

COMMANDS = ['run', 'map', 'check', 'peek', 'block', 'unblock', 'reset', 'doctor']

POLICY = '''store: file:ledgers.mdb
namespace: test
limits:
  - name: mail
    rules:
      - rate: 100/s
        burst: 10
      - rate: 100000/day
  - name: account
    rules: [{rate: 5/s}]
    within: mail
    on_store_failure: closed
'''


def helps(report, here):
    done = here.takt('--help')
    report.check(done.returncode == 0 and all(f'  {name} ' in done.stdout for name in COMMANDS),
                 'takt --help lists the commands', told(done))
    report.check('  agent ' in done.stdout, 'and the programs that are installed with it', told(done))
    done = here.takt('agent', '--help')
    report.check(done.returncode == 0 and 'Usage: takt-agent ' in done.stdout, 'takt agent runs takt-agent', told(done))
    for name in COMMANDS:
        done = here.takt(name, '--help')
        report.check(done.returncode == 0 and f'Usage: takt {name} ' in done.stdout
                     and f'\n  takt {name} ' in done.stdout and 'Exit status' in done.stdout,
                     f'takt {name} --help shows an example', told(done))
    done = here.takt('--version')
    report.check(done.returncode == 0 and done.stdout.startswith('takt '), 'takt --version', told(done))
    report.check(here.takt('version').stdout == done.stdout, 'takt version, likewise', told(done))
    whole, one = here.takt('--help'), here.takt('run', '--help')
    done = here.takt('help')
    report.check(done.returncode == 0 and done.stdout == whole.stdout, 'takt help is takt --help', told(done))
    done = here.takt('help', 'run')
    report.check(done.returncode == 0 and done.stdout == one.stdout, 'takt help run is takt run --help', told(done))
    done = here.takt('help', 'rum')
    report.check(done.returncode == 64 and 'did you mean "run"?' in done.stderr, 'takt help rum', told(done))


def refusals(report, here):
    for arguments, words in [([], 'Usage: takt'), (['rnu'], 'did you mean "run"?'), (['unblok'], '"unblock"?'),
                             (['nonsense'], 'takt --help'), (['--polcy', 'x', 'run'], '--polcy')]:
        done = here.takt(*arguments)
        report.check(done.returncode == 64 and words in done.stderr and not done.stdout,
                     f'takt {" ".join(arguments)}: 64', told(done))
    done = ends.run(['sh', '-c', '"$0" peek --rate 1/s api >&-', TAKT], env=here.environment, cwd=here.path,
                    capture_output=True, text=True)
    report.check(done.returncode == 74, 'a closed output is an error: 74', told(done))


def programs(report, here):
    """`takt NAME` is the program takt-NAME, where it is no command."""
    folder = here.path / 'programs'
    folder.mkdir()
    for name in ('takt-greet', 'takt-run', 'takt-plain'):
        here.write(f'programs/{name}', '#!/bin/sh\necho "$(basename "$0") here: $*"\nexit 7\n')
        (folder / name).chmod(0o644 if name == 'takt-plain' else 0o755)
    settings = {'env': {**here.environment, 'PATH': f'/nowhere::{folder}:{os.environ["PATH"]}'}}
    done = here.takt('greet', 'a', '--store', 'b', '--', '-c', **settings)
    report.check(done.returncode == 7 and done.stdout == 'takt-greet here: a --store b -- -c\n',
                 'takt NAME runs takt-NAME with its words', told(done))
    done = here.takt('-s', 'memory:', '-p', 'file', 'greet', **settings)
    report.check(done.stdout == 'takt-greet here: --policy file --store memory:\n', 'and with the options before it',
                 told(done))
    done = here.takt('run', '--help', **settings)
    report.check('Usage: takt run' in done.stdout, 'but not where NAME is a command', told(done))
    for name in ('plain', 'programs/takt-greet', '../greet'):
        done = here.takt(name, **settings)
        report.check(done.returncode == 64 and 'there is no command' in done.stderr, f'takt {name} is nothing',
                     told(done))
    done = here.takt('gret', **settings)
    report.check(done.returncode == 64 and 'did you mean "greet"?' in done.stderr, 'takt gret: greet may be meant',
                 told(done))
    done = here.takt('plan', **settings)
    report.check(done.returncode == 64 and 'did you mean' not in done.stderr, 'what cannot be run is not meant',
                 told(done))
    (here.path / 'beside').mkdir()
    shutil.copy2(TAKT, here.path / 'beside' / 'takt')
    shutil.copy2(folder / 'takt-greet', here.path / 'beside' / 'takt-greet')
    done = ends.run([here.path / 'beside' / 'takt', 'greet', 'x'], env=here.environment, cwd=here.path,
                    capture_output=True, text=True)
    report.check(done.stdout == 'takt-greet here: x\n', 'it may lie beside takt', told(done))


def check(report, here):
    here.write('takt.yaml', POLICY)
    for arguments in (['takt.yaml'], []):
        done = here.takt('check', *arguments)
        report.check(done.returncode == 0
                     and done.stdout == 'mail     100/s burst 10, 100000/day\naccount  5/s, on_store_failure closed, '
                     'within mail\n',
                     f'takt check {" ".join(arguments)} prints a line for each limit', told(done))
        report.check(done.stderr.startswith('takt check: warning: mail: rate 100/s is never reached: 100000/day'),
                     'and warns of a rate that another hides', told(done))
    for arguments in (['check', 'takt.yaml', '-p', 'b.yaml'], ['apply', '-p', 'b.yaml', '--dry-run', 'takt.yaml'],
                      ['-p', 'b.yaml', 'check', 'takt.yaml'], ['check', 'takt.yaml', 'b.yaml']):
        done = here.takt(*arguments)
        report.check(done.returncode == 64 and ('not both' in done.stderr or 'one file' in done.stderr) and not done.stdout,
                     f'takt {" ".join(arguments)}: two files', told(done))
    done = here.takt('check', '--json', 'takt.yaml')
    report.check(done.returncode == 0 and json.loads(done.stdout) == {
        'namespace': 'test', 'store': 'file:ledgers.mdb', 'follows': False,
        'limits': [{'name': 'mail', 'rules': '100/s burst 10, 100000/day', 'on_store_failure': 'wait',
                    'mode': 'enforce', 'learn': 'off', 'fair': False, 'key_hash': False, 'overrides': []},
                   {'name': 'account', 'rules': '5/s, on_store_failure closed, within mail',
                    'on_store_failure': 'closed', 'mode': 'enforce', 'learn': 'off', 'fair': False, 'key_hash': False,
                    'overrides': []}],
        'warnings': [{'limit': 'mail', 'text': 'rate 100/s is never reached: 100000/day without a burst allows 1.16/s; '
                      'add burst: 100000 or algorithm: fixed-window to 100000/day'}]}, 'or JSON', told(done))


# What is wrong, in place of what, with what; and what is said.
BROKEN = [
    ('a rate', '100/s', 'quick', 'takt.yaml:6: '),
    ('a field', 'burst', 'bust', 'takt.yaml:7: '),
    ('a limit to go through', 'within: mail', 'within: male', 'male'),
    ('the indentation', '  - name: account', ' - name: account', 'takt.yaml:9: '),
]


def broken(report, here):
    for name, before, after, words in BROKEN:
        here.write('takt.yaml', POLICY.replace(before, after, 1))
        done = here.takt('check', 'takt.yaml')
        report.check(done.returncode == 78 and words in done.stderr and not done.stdout, f'{name} is wrong: 78',
                     f'wanted {words!r}\n{told(done)}')
    done = here.takt('check', 'gone.yaml')
    report.check(done.returncode == 78 and 'gone.yaml' in done.stderr, 'no such file: 78', told(done))


def main():
    report = tap.Report()
    for part in (helps, refusals, programs, check, broken):
        with place() as here:
            part(report, here)
    report.end()


if __name__ == '__main__':
    main()
