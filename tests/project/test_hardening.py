#!/usr/bin/env python3
"""
What the project builds is hardened: position independent, its tables of addresses read-only once it has started (full
RELRO), stacks with canaries, copies checked against the size of their target (FORTIFY), no executable stack.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

BUILT = ['lib/libtakt.so', 'workers/libtakt-worker.so', 'cli/takt', 'workers/takt-print', 'workers/mail/takt-mail', 'workers/call/takt-call',
         'workers/jobs_tool/takt-jobs', 'agent/takt-agent']


def lacking(file):
    """The names of the missing protections."""
    def read(*options):
        return subprocess.run(['readelf', '--wide', *options, file], capture_output=True, text=True, check=True).stdout

    headers, segments, dynamic, symbols = (read(option) for option in ('-h', '-l', '-d', '--dyn-syms'))
    stack = [line for line in segments.splitlines() if 'GNU_STACK' in line]
    found = {
        'position independence': 'DYN (' in headers,
        'read-only relocations': 'GNU_RELRO' in segments,
        'binding at the start': 'NOW' in dynamic,
        'stack canaries': '__stack_chk_fail' in symbols,
        'checked copies': '_chk@' in symbols.replace('__stack_chk_fail', ''),
        'a stack without code': bool(stack) and 'RWE' not in stack[0],
    }
    return [name for name, there in found.items() if not there]


def main():
    build = pathlib.Path(os.environ['TAKT_BUILD'])
    report = tap.Report()
    for name in BUILT:
        missing = lacking(build / name)
        report.check(not missing, f'{name} is hardened', 'it lacks ' + ', '.join(missing))
    report.end()


if __name__ == '__main__':
    main()
