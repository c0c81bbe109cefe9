#!/usr/bin/env python3
"""The templates of units, as systemd itself judges them: that they are right, and how little they may do."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from program import BUILD, DEADLINE, program, tap

EXPOSURE_MOST = 2.0  # of 10, as `systemd-analyze security` counts


def instance(folder, name):
    """The unit of one instance, with a program that is there."""
    text = (BUILD / 'workers/systemd' / f'{name}@.service').read_text(encoding='utf-8')
    place = pathlib.Path(folder) / f'{name}@demo.service'
    place.write_text(re.sub(r'(?m)^ExecStart=\S+', 'ExecStart=/bin/true', text), encoding='utf-8')
    return place, text


def agent_units(folder):
    """The units of the agent, with a program that is there."""
    service = (BUILD / 'agent/takt-agent.service').read_text(encoding='utf-8')
    places = [pathlib.Path(folder) / f'takt-agent.{kind}' for kind in ('service', 'socket')]
    places[0].write_text(re.sub(r'(?m)^ExecStart=\S+', 'ExecStart=/bin/true', service), encoding='utf-8')
    places[1].write_text((BUILD / 'agent/takt-agent.socket').read_text(encoding='utf-8'), encoding='utf-8')
    return places, service


def analyze(*words):
    return subprocess.run(['systemd-analyze', *map(str, words)], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE, check=False,
                          env={**os.environ, 'SYSTEMD_LOG_LEVEL': 'warning'})


def agrees_with_program(report, name, text, example):
    """The program accepts the unit's options, and keeps the unit's promises. `example` has its --help."""
    settings = dict(line.split('=', 1) for line in text.splitlines() if re.match(r'\w+=', line))
    line = settings['ExecStart'].split()
    options = [word for word in line[1:] if word.startswith('--')]
    known = subprocess.run([example, '--help'], text=True, capture_output=True, check=True).stdout
    report.check(options and all(option in known for option in options), f'{name}: its options are those of the program',
                 f'{options} in {known}')
    drain_s = int(line[line.index('--drain') + 1].rstrip('s'))
    report.check(int(settings['TimeoutStopSec']) > drain_s, f'{name}: systemd waits for longer than --drain', settings)
    report.check(line[0].endswith(f'/bin/{name}') and '@' not in line[0],
                 f'{name}: its program is where it is installed', line[0])


def is_right(report, name, *places):
    done = analyze('verify', *places)
    report.check(done.returncode == 0 and not done.stdout.strip(), f'{name}: systemd understands it', done.stdout)


def may_do_little(report, name, place):
    done = analyze('security', '--offline=true', '--no-pager', place)
    if 'unrecognized option' in done.stdout:
        report.skip(f'{name}: it may do little', 'this systemd-analyze does not judge files')
        return
    found = re.search(r'exposure level for \S+: ([\d.]+)', done.stdout)
    report.check(found and float(found.group(1)) <= EXPOSURE_MOST, f'{name}: it may do little', done.stdout)


def main():
    report = tap.Report()
    with tempfile.TemporaryDirectory() as folder:
        for name in ('takt-mail', 'takt-call'):
            place, text = instance(folder, name)
            agrees_with_program(report, name, text, program('takt-print'))
            if not shutil.which('systemd-analyze'):
                report.skip(f'{name}: systemd understands it', 'there is no systemd-analyze')
                continue
            is_right(report, name, place)
            may_do_little(report, name, place)
        places, text = agent_units(folder)
        agrees_with_program(report, 'takt-agent', text, str(BUILD / 'agent/takt-agent'))
        if shutil.which('systemd-analyze'):
            is_right(report, 'takt-agent', *places)
            may_do_little(report, 'takt-agent', places[0])
        else:
            report.skip('takt-agent: systemd understands it', 'there is no systemd-analyze')
    report.end()


if __name__ == '__main__':
    main()
