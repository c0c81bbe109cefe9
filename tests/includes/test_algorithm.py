#!/usr/bin/env python3
"""
A new algorithm is a C file, a Lua file, a row for each, a line of the build and a part of the page: no list elsewhere
names all algorithms. The one that nothing else needs stands for all of them.

Usage: test_algorithm.py [TREE]; without one, $TAKT_SOURCE or the checkout this file is in.
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

NAMED = re.compile(r'\bsliding[-_]window|make_sliding_window|takt_sliding_window')
PLACES = {
    'lib/rules/sliding_window.c',
    'lib/rules/rule.h',
    'lib/store/redis/lua/sliding_window.lua',
    'lib/store/redis/lua/rule.lua',
    'lib/meson.build',
    'docs/policy.md',
}
LOOKED_AT = ['include', 'lib', 'kit', 'simulate', 'doctor', 'cli', 'workers', 'agent', 'docs', 'README.md']


def files_of(tree):
    for top in LOOKED_AT:
        below = tree / top
        yield from [below] if below.is_file() else (file for file in below.rglob('*') if file.is_file())


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get('TAKT_SOURCE', here)).resolve()
    naming = {file.relative_to(tree).as_posix() for file in files_of(tree)
              if NAMED.search(file.read_text(encoding='utf-8', errors='ignore'))}
    report = tap.Report()
    report.check(naming == PLACES, f'an algorithm is named in {len(PLACES)} places',
                 '\n'.join([*(f'{name}: one more' for name in sorted(naming - PLACES)),
                            *(f'{name}: does not name it' for name in sorted(PLACES - naming))]))
    report.end()


if __name__ == '__main__':
    main()
