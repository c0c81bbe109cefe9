#!/usr/bin/env python3
"""
Each public header compiles alone, without warnings, as C11, C++11 and C++17; all of them do so together, in any order
and twice; and each is in the list of installed headers.
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Werror', '-fsyntax-only']
LANGUAGES = [
    ('CC', 'cc', 'c', 'c11'),
    ('CXX', 'c++', 'c++', 'c++11'),
    ('CXX', 'c++', 'c++', 'c++17'),
]

# The macro that both languages write differently, and a function whose name must not be mangled.
USE = '''
#include <takt/takt.h>
int takt_use_test(takt_client *client, takt_permit *permit, takt_acquire_cb callback);
int takt_use_test(takt_client *client, takt_permit *permit, takt_acquire_cb callback)
{
    takt_request request = TAKT_REQUEST("limit");
    request.key = "key";
    return takt_acquire(client, permit, &request, callback);
}
'''


def main():
    include = pathlib.Path(os.environ['TAKT_SOURCE']) / 'include'
    headers = sorted(header.relative_to(include).as_posix() for header in include.glob('takt/*.h'))
    report = tap.Report()
    for variable, default, language, standard in LANGUAGES:
        compiler = [*os.environ.get(variable, default).split(), '-x', language, f'-std={standard}', *WARNINGS,
                    '-I', str(include), '-']
        for header in headers:
            report.command(f'<{header}> alone as {standard}', compiler, input=f'#include <{header}>\n')
        together = ''.join(f'#include <{header}>\n' for header in headers + headers[::-1])
        report.command(f'all headers together, and again, as {standard}', compiler, input=together)
        backwards = ''.join(f'#include <{header}>\n' for header in headers[::-1])
        report.command(f'all headers the other way round as {standard}', compiler, input=backwards)
        report.command(f'a program uses <takt/takt.h> as {standard}', compiler, input=USE)

    listed = sorted(re.findall(r"'(takt/\w+\.h)'", (include / 'meson.build').read_text(encoding='utf-8')))
    report.check(listed == headers, 'every public header is installed', f'listed {listed}, there are {headers}')
    report.end()


if __name__ == '__main__':
    main()
