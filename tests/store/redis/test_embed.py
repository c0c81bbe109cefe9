#!/usr/bin/env python3
"""
The scripts that the build makes: functions inlined into their callers, flat tables, constants of C; and an error for
whatever it cannot do right. That the result decides as lib/core does is the matter of agree.c.
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[3] / 'lib/store/redis')]

import c_constants  # noqa: E402
import embed  # noqa: E402
import inline  # noqa: E402
from tap import Report  # noqa: E402

VALUE = ['-- inline', 'local function twice(a, b)', '    return a * 2 + b', 'end']
STEPS = ['-- inline', 'local function half(n)', '    if n % 2 > 0 then', '        return nil', '    end',
         '    local at = n / 2', '    return at, n', 'end']

# What is written, and what becomes of it; None: the build fails.
CASES = [
    ('a value', VALUE + ['x = twice(y, 3) * 4'], 'x = (y * 2 + 3) * 4'),
    ('a value alone', VALUE + ['local x = twice(y, f(3))'], 'local x = y * 2 + (f(3))'),
    ('a value in a line of its own', VALUE + ['local x =', '    twice(y, 3)'], 'local x =\ny * 2 + 3'),
    ('what has the name of a parameter is a variable', VALUE + ["x = 1 + twice(t.b, u.a)"],
     'x = 1 + (t.b * 2 + u.a)'),
    ('an expression used once', VALUE + ['x = 1 + twice(y, z - 1)'], 'x = 1 + (y * 2 + (z - 1))'),
    ('one in another', VALUE + ['x = 1 + twice(y, twice(1, 2))'], 'x = 1 + (y * 2 + ((1 * 2 + 2)))'),
    ('a function of steps', STEPS + ['local a, b = half(c)'],
     'local half_1, half_2\nrepeat\nlocal n = c\nif n % 2 > 0 then\nbreak\nend\nlocal at = n / 2\n'
     'half_1, half_2 = at, n\nuntil true\nlocal a, b = half_1, half_2'),
    ('a parameter of the same name', STEPS + ['n, m = half(n)'],
     'local half_1, half_2\nrepeat\nif n % 2 > 0 then\nbreak\nend\nlocal at = n / 2\n'
     'half_1, half_2 = at, n\nuntil true\nn, m = half_1, half_2'),
    ('a flat table', ['-- flat: t', 'local function f()', '    local t = {}', "    t.a, t.b = 1, 't.a'", '    return u.t.a', 'end'],
     "local function f()\nlocal t_a, t_b\nt_a, t_b = 1, 't.a'\nreturn u.t.a\nend"),
    ('steps in the midst of an expression', STEPS + ['x = 1 + half(c)'], None),
    ('an argument that is wanted twice',
     ['-- inline', 'local function square(a)', '    return a * a', 'end', 'x = square(f(1))'], None),
    ('too few arguments', VALUE + ['x = twice(y)'], None),
    ('a function that is not called', VALUE + ['x = twice'], None),
    ('a return within a loop',
     ['-- inline', 'local function f(a)', '    for i = 1, a do', '        return i', '    end', 'end'], None),
    ('a flat table used as a table',
     ['-- flat: t', 'local function f()', '    local t = {}', '    t.a = 1', '    return g(t)', 'end'], None),
]

HEADER = """
#define TAKT_A 3 /* three */
#define TAKT_B \\
    (INT64_C(1) << 4)
#define TAKT_C (2 * TAKT_A + TAKT_B)
#define TAKT_TEXT "3"
#define TAKT_CALL() 3
"""
NUMBERS = [('TAKT_A', 3), ('TAKT_B', 16), ('TAKT_C', 22), ('TAKT_TEXT', None), ('TAKT_CALL', None), ('TAKT_D', None)]


def outcome(act):
    """The result; None if the build would fail."""
    try:
        return act()
    except SystemExit:
        return None


def main():
    report = Report()
    for name, lines, expected in CASES:
        made = outcome(lambda lines=lines: '\n'.join(inline.Inliner().take(lines, str.strip)))
        report.check(made == expected, f'inline: {name}', f'made:\n{made}\nexpected:\n{expected}')
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / 'lib').mkdir()
        (root / 'lib' / 'a.h').write_text(HEADER, encoding='utf-8')
        c_constants.ROOT = root
        constants = c_constants.Constants()
        for name, expected in NUMBERS:
            found = outcome(lambda name=name: constants.number(name))
            report.check(found == expected, f'C: {name}', f'{found}, not {expected}')
        (root / 'lib' / 'b.h').write_text('#define TAKT_A 4\n', encoding='utf-8')
        report.check(outcome(lambda: c_constants.Constants().number('TAKT_A')) is None, 'C: a name with two numbers')
    for operation in embed.OPERATIONS:
        source = embed.join(operation)
        left = [word for word in ('TAKT_', '-- ') if word in source]
        report.check(not left, f'{operation}: no name of C and no comment is left', left)
    long_lines = [f'{path.name}:{number}' for path in embed.LUA.glob('*.lua')
                  for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1) if len(line) > 120]
    report.check(not long_lines, 'lines of scripts have 120 columns at most', '\n'.join(long_lines))
    return report.end()


if __name__ == '__main__':
    sys.exit(main())
