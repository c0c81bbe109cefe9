#!/usr/bin/env python3
"""
Only takt_* leaves the libraries: the shared ones export what their headers mark TAKT_EXPORT and nothing else, each
static library beside libtakt defines what its own header marks, and no static one defines a global name that could clash
with a program's.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

BESIDE = ['doctor', 'simulate']  # libtakt-NAME.a, which takt/NAME.h declares
WORKER = 'worker'  # libtakt-worker.so, likewise

LINKERS = {'__bss_start', '_edata', '_end'}  # gold exports its own marks

DECLARED = re.compile(r'\bTAKT_EXPORT\b[^;{#]*?\b(\w+)\s*(?:\(|;|\[)')


def defined(library, *options):
    """The global names that a library defines."""
    lines = subprocess.run(['nm', '--defined-only', '--extern-only', '--format=posix', *options, library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split()[0].split('@')[0] for line in lines if len(line.split()) > 1}
    return names - LINKERS


def declared(headers):
    """The names that these headers mark TAKT_EXPORT."""
    names = set()
    for header in headers:
        text = re.sub(r'/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.DOTALL)
        text = re.sub(r'^\s*#.*$', '', text, flags=re.MULTILINE)
        names.update(DECLARED.findall(text))
    return names


def check_shared(report, library, headers):
    """The names that a shared library exports, which are those of its headers."""
    exported, promised, name = defined(library, '--dynamic'), declared(headers), library.name
    foreign = sorted(symbol for symbol in exported if not symbol.startswith('takt_'))
    report.check(exported, f'{name} exports something')
    report.check(not foreign, f'{name} exports takt_* alone', '\n'.join(foreign))
    missing, hidden = sorted(promised - exported), sorted(exported - promised)
    report.check(not missing, f'{name} exports every function of its headers', '\n'.join(missing))
    report.check(not hidden, f'every function that {name} exports is in a header', '\n'.join(hidden))
    return exported


def main():
    top = pathlib.Path(os.environ['TAKT_BUILD'])
    build = top / 'lib'
    headers = pathlib.Path(os.environ['TAKT_SOURCE']) / 'include' / 'takt'
    report = tap.Report()

    exported = check_shared(report, build / 'libtakt.so',
                            [header for header in headers.glob('*.h') if header.stem not in [*BESIDE, WORKER]])
    check_shared(report, top / 'workers' / f'libtakt-{WORKER}.so', [headers / f'{WORKER}.h'])

    globals_ = defined(build / 'libtakt.a')
    foreign = sorted(name for name in globals_ if not name.startswith('takt_'))
    report.check(globals_ >= exported, 'the static library has what the shared one exports')
    report.check(not foreign, 'the static library defines takt_* alone', '\n'.join(foreign))

    for name in BESIDE:
        defines, promised = defined(top / name / f'libtakt-{name}.a'), declared([headers / f'{name}.h'])
        missing = sorted(promised - defines)
        report.check(promised and not missing, f'libtakt-{name} has every function of its header', '\n'.join(missing))
        foreign = sorted(symbol for symbol in defines if not symbol.startswith('takt_'))
        report.check(not foreign, f'libtakt-{name} defines takt_* alone', '\n'.join(foreign))
        twice = sorted(defines & globals_)
        report.check(not twice, f'libtakt has nothing of libtakt-{name}', '\n'.join(twice))
    report.end()


if __name__ == '__main__':
    main()
