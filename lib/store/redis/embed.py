#!/usr/bin/env python3
"""
Joins the scripts of lua/ with the pieces that they need and makes them a part of the library.

    embed.py --c OUTPUT [--depfile FILE] [--seam LINE]
                                                  a C source with all of them (see script.h)
    embed.py --lua SCRIPT [--seam LINE]           one of them, as the server gets it, on the standard output
    embed.py --sha1                               the name and the SHA1 of each

There is a script for each operation of takt_op, and `claims`, which runs that of a claim several times. The first lines
of a file say `-- needs: NAME NAME`: each of these stands before it, once. Comments and indentation are left out. A number or a text with a name in capitals stands in the place of
its name: those that begin with TAKT_ are C's (c_constants.py), the others are a script's own. What is marked `-- inline`
and `-- flat` is put into its callers (inline.py). --seam replaces the one line that
reads the server's time (it is marked `-- seam: now`), for tests; the library itself is never built with it.
"""

import argparse
import functools
import hashlib
import pathlib
import re
import sys

import c_constants
import inline

HERE = pathlib.Path(__file__).resolve()
LUA = HERE.parent / 'lua'
OPERATIONS = c_constants.operations()
CONSTANTS = c_constants.Constants()
CLAIMS = 'claims'
SCRIPTS = [*OPERATIONS, CLAIMS]
CLOCK = 'time'  # the piece that reads it
NEEDS = re.compile(r'--\s*needs:\s*(.*)$')
SEAM = re.compile(r'--\s*seam:\s*now\s*$')
CONSTANT = re.compile(r"local ([A-Z][A-Z_]+) = ([0-9][0-9e]*|'[^']*')$")


def needs_of(text):
    """The pieces that the comment at the top of a file names."""
    names = []
    for line in text.splitlines():
        if line.strip() and not line.startswith('--'):
            break
        found = NEEDS.match(line)
        if found:
            names += found.group(1).split()
    return names


def pieces_of(name, seen):
    """The names of all pieces that `name` needs and then itself, each once, what is needed first."""
    if name in seen:
        return
    seen.add(name)
    for needed in needs_of((LUA / f'{name}.lua').read_text(encoding='utf-8')):
        yield from pieces_of(needed, seen)
    yield name


@functools.cache
def without_comment(line):
    """A line without the comment at its end and without indentation."""
    quote, at = None, 0
    while at < len(line):
        if quote:
            if line[at] == '\\':
                at += 1
            elif line[at] == quote:
                quote = None
        elif line[at] in '"\'':
            quote = line[at]
        elif line.startswith('--', at):
            if line.startswith('--[[', at):
                sys.exit(f'embed.py: a long comment: {line}')
            return line[:at].strip()
        at += 1
    return line.strip()


def with_values(line, values):
    """A line with what has a name in capitals in the place of the name; empty where that is what it says itself."""
    line = CONSTANTS.put_into(line)
    constant = CONSTANT.match(line)
    if constant:
        values[constant.group(1)] = constant.group(2)
        return ''
    put = re.sub(r'\b[A-Z][A-Z_]+\b', lambda word: values.get(word.group(), word.group()), line)
    return put.replace("' .. '", '') if put != line else line


def join(script, seam=None):
    """A whole script."""
    if script == CLAIMS:
        return f'local function claim(KEYS, ARGV)\n{join("claim", seam)}end\n{join_pieces(CLAIMS, seam)}'
    return join_pieces(script, seam)


def join_pieces(operation, seam):
    lines, seams, pieces = [], 0, list(pieces_of(operation, set()))
    inliner, values = inline.Inliner(), {}
    for name in pieces:
        source = (LUA / f'{name}.lua').read_text(encoding='utf-8').splitlines()
        for at, line in enumerate(source):
            if SEAM.search(line):
                seams += 1
                source[at] = line if seam is None else seam
        lines += inliner.take(source, lambda line: with_values(without_comment(line), values))
    if seams != (CLOCK in pieces):
        sys.exit(f'embed.py: {operation}: {seams} lines are marked "-- seam: now", not one')
    return '\n'.join(filter(None, lines)) + '\n'


def sha1(source):
    return hashlib.sha1(source.encode()).hexdigest()


def as_bytes(source):
    """The initialiser of an array: string literals may be as long only as every compiler must take."""
    codes = [str(byte) for byte in source.encode()]
    return ',\n'.join('    ' + ','.join(codes[at:at + 24]) for at in range(0, len(codes), 24))


def write_depfile(path, output):
    """What the output was made from, so that it is made anew when that changes."""
    names = set()
    for script in SCRIPTS:
        names.update(pieces_of(script, set()))
    files = [*HERE.parent.glob('*.py'), *(LUA / f'{name}.lua' for name in sorted(names)), *CONSTANTS.files()]
    made_from = ' '.join(str(file).replace(' ', '\\ ') for file in files)
    pathlib.Path(path).write_text(f'{output}: {made_from}\n', encoding='utf-8')


def write_c(path, seam):
    sources = {script: join(script, seam) for script in SCRIPTS}
    parts = ['/* Made from lua/ by embed.py. */\n#include "store/redis/script.h"\n']
    for script, source in sources.items():
        parts.append(f'static const char {script}_source[] = {{\n{as_bytes(source)}}};\n')
    index = {script: f'TAKT_OP_{script.upper()}' for script in OPERATIONS} | {CLAIMS: 'TAKT_SCRIPT_CLAIMS'}
    rows = ''.join(f'    [{index[script]}] = {{"{script}", {script}_source, sizeof {script}_source,\n'
                   f'        "{sha1(source)}"}},\n' for script, source in sources.items())
    parts.append(f'const takt_script takt_scripts[] = {{\n{rows}}};\n')
    parts.append('_Static_assert(sizeof takt_scripts / sizeof *takt_scripts == TAKT_SCRIPTS, "each script");\n')
    pathlib.Path(path).write_text('\n'.join(parts), encoding='utf-8')


def main():
    parser = argparse.ArgumentParser()
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--c')
    what.add_argument('--lua', choices=SCRIPTS)
    what.add_argument('--sha1', action='store_true')
    parser.add_argument('--depfile')
    parser.add_argument('--seam')
    arguments = parser.parse_args()
    if arguments.c:
        write_c(arguments.c, arguments.seam)
        if arguments.depfile:
            write_depfile(arguments.depfile, arguments.c)
    elif arguments.lua:
        sys.stdout.write(join(arguments.lua, arguments.seam))
    else:
        for script in SCRIPTS:
            print(script, sha1(join(script, arguments.seam)))


if __name__ == '__main__':
    main()
