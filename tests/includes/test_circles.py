#!/usr/bin/env python3
"""
Calls between the .c files of a folder point one way, and so do calls between folders: no file calls one that calls it
back, directly or through others. No two functions have one name. A tie is the name of a function that another file defines, called or handed on.
Headers make no ties. KNOWN lists the circles that there are, and only becomes shorter. Small folders written for it
show that the check sees circles.

Usage: test_circles.py [TREE] [FOLDER...]; TREE defaults to $TAKT_SOURCE, then to the checkout of this file. With
folders it prints which of their files call which functions of which others; "o" marks the ties of a circle.
"""

import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

TOPS = ['lib', 'kit', 'simulate', 'doctor', 'cli', 'workers', 'agent']

# The circles there are: folder -> the files of each, without ".c"; "lib" has those between the folders below it.
KNOWN = {}

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)', re.MULTILINE)
TOKEN = re.compile(r'[A-Za-z_]\w*|->|\.\.\.|[^\w\s]|\d[\w.]*')
NAME = re.compile(r'[A-Za-z_]\w*$')
VALUE_FOLLOWS = {'&', '=', '(', ',', '{', '?', ':', ')', '|', '!'}
VALUE_ENDS = {',', ')', ';', '}', ':', '?'}
CLOSING = {'(': ')', '[': ']', '{': '}'}


def tokens_of(text):
    """The words and signs of C, without comments, strings and directives; and those of what #define stands for."""
    text = NOT_CODE.sub(lambda found: ' ' if found.group()[0] == '/' else '""', text.replace('\r', ''))
    macros = []

    def directive(found):
        if found.group(1) == 'define':
            macros.append(found.group(2).replace('\\\n', ' '))
        return ''

    text = DIRECTIVE.sub(directive, text)
    return TOKEN.findall(text), TOKEN.findall('\n'.join(macros))


def end_of(tokens, begin):
    """The place behind the bracket that closes the one at `begin`."""
    opening, depth = tokens[begin], 0
    for place in range(begin, len(tokens)):
        depth += (tokens[place] == opening) - (tokens[place] == CLOSING[opening])
        if depth == 0:
            return place + 1
    return len(tokens)


def declarations_of(tokens):
    """What stands on the outermost level, one after the other: a head, and a body in braces or None."""
    place, head = 0, []
    while place < len(tokens):
        if tokens[place] == ';':
            yield head, None
            place, head = place + 1, []
        elif tokens[place] == '{':
            end = end_of(tokens, place)
            body = tokens[place + 1:end - 1]
            place = end
            if function_of(head):
                yield head, body
                head = []
            else:  # a struct or the values of a table: the declaration goes on
                head += ['{', *body, '}']
        else:
            head.append(tokens[place])
            place += 1


def function_of(head):
    """The function that begins with `head`; None where no function begins so."""
    if '=' in head or head[:1] == ['typedef'] or head[-1:] != [')']:
        return None
    for place, token in enumerate(head[:-1]):
        if head[place + 1] == '(' and NAME.match(token) and token not in ('__attribute__', '_Alignas'):
            return token
    return None


def names_used(tokens):
    """Names that may be those of functions: no members, and nothing that a declaration here gives another meaning."""
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else ''
        after = tokens[place + 1] if place + 1 < len(tokens) else ''
        if not NAME.match(token) or before in ('.', '->', 'struct', 'union', 'enum'):
            continue
        is_called = after == '(' and not NAME.match(before) or before in ('return', 'else', 'do')
        is_value = before in VALUE_FOLLOWS and after in VALUE_ENDS
        if is_called or is_value:
            yield token


class File:
    """What a .c file defines for others, and the names that it uses."""

    def __init__(self, text):
        self.defines, self.uses = set(), set()
        own = set()
        tokens, macros = tokens_of(text)
        self.uses.update(names_used(macros))
        for head, body in declarations_of(tokens):
            function = function_of(head)
            if body is None:
                if '=' in head:
                    self.uses.update(names_used(head[head.index('='):]))
                continue
            (own if 'static' in head else self.defines).add(function)
            # A parameter or a variable may be named as a function of others is.
            self.uses |= set(names_used(body)) - variables_of(head[head.index(function) + 1:]) - variables_of(body)
        self.uses -= own | self.defines


def variables_of(tokens):
    """Names that are declared there: behind a type or its star, before what ends a declarator."""
    found = set()
    for place in range(1, len(tokens) - 1):
        before, token, after = tokens[place - 1:place + 2]
        if not NAME.match(token) or after not in ('=', ';', ',', '[', ')', ':'):
            continue
        stars = place - 1
        while stars > 0 and tokens[stars] == '*':
            stars -= 1
        type_name = tokens[stars]
        if not NAME.match(type_name) or type_name in ('return', 'case', 'goto', 'sizeof', 'else', 'in'):
            continue
        if stars == place - 1 or tokens[stars - 1] in ('{', '}', ';', '(', ',', 'const', 'struct', 'static'):
            found.add(token)
    return found


def ties_of(files):
    """(file, other file) -> the functions of the other that the first uses."""
    homes = {}
    for name, file in files.items():
        for function in file.defines - {'main'}:
            homes.setdefault(function, set()).add(name)
    ties = {}
    for name, file in files.items():
        for function in file.uses & homes.keys():
            for home in homes[function] - {name}:
                ties.setdefault((name, home), set()).add(function)
    return ties


def circles_of(ties):
    """Sets of files each of which reaches each other one."""
    reached = {}
    for begin in {name for tie in ties for name in tie}:
        seen, todo = set(), [begin]
        while todo:
            here = todo.pop()
            for caller, called in ties:
                if caller == here and called not in seen:
                    seen.add(called)
                    todo.append(called)
        reached[begin] = seen
    return {frozenset(other for other in seen if name in reached[other])
            for name, seen in reached.items() if name in seen}


def ties_in(folder):
    return ties_of({path.stem: File(path.read_text(encoding='utf-8')) for path in sorted(folder.glob('*.c'))})


def ties_between_folders(top):
    """As ties_of, of the folders below `top`."""
    files = {path: File(path.read_text(encoding='utf-8')) for path in sorted(top.rglob('*.c'))}
    ties = {}
    for pair, functions in ties_of(files).items():
        caller, called = (path.parent.relative_to(top).as_posix() for path in pair)
        if caller != called:
            ties.setdefault((caller, called), set()).update(functions)
    return ties


def twice_defined(paths):
    """Functions that two files define for others, though one program may link both: only the first is called then."""
    homes = {}
    for path in paths:
        for function in File(path.read_text(encoding='utf-8')).defines:
            homes.setdefault(function, []).append(path)
    return {function: found for function, found in sorted(homes.items()) if len(found) > 1 and function != 'main'}


def folders_of(tree):
    """All folders with sources, by their name in the tree."""
    folders = {path.parent for top in TOPS for path in (tree / top).rglob('*.c')}
    return {folder.relative_to(tree).as_posix(): folder for folder in sorted(folders)}


def circle_faults(circles, known):
    """The faults of the folders' circles; `circles`: folder -> sets of files."""
    for folder in sorted({*circles, *known}):
        there = circles.get(folder, set())
        named = {frozenset(files.split()) for files in known.get(folder, [])}
        for files in sorted(map(sorted, there - named)):
            yield f'{folder}: calls go in a circle between {" ".join(files)}'
        for files in sorted(map(sorted, named - there)):
            yield f'{folder}: "{" ".join(files)}" is no circle any more: take it off the list KNOWN'


# Structs

STRUCT = re.compile(r'(?:struct|union)$')


def members_of(tokens):
    """How many members a struct has, from what stands between its braces; those of a nested one count as well."""
    count, place, declared = 0, 0, 0
    while place < len(tokens):
        token = tokens[place]
        if token == '{':
            end = end_of(tokens, place)
            count += members_of(tokens[place + 1:end - 1])
            place = end
            continue
        if token in ('(', '['):
            declared += 1
            place = end_of(tokens, place)
            continue
        if token == ',' or token == ';':
            count += declared > 0
            declared = 0
        elif NAME.match(token) and token not in ('struct', 'union'):
            declared += 1
        place += 1
    return count


def largest_struct(folder):
    """(members, name) of the largest struct that the files of a folder define."""
    found = [(0, 'none')]
    for path in sorted([*folder.glob('*.c'), *folder.glob('*.h')]):
        tokens, _ = tokens_of(path.read_text(encoding='utf-8'))
        for place in range(len(tokens) - 2):
            if STRUCT.match(tokens[place]) and tokens[place + 2] == '{':
                found.append((members_of(tokens[place + 3:end_of(tokens, place + 2) - 1]), tokens[place + 1]))
    return max(found, key=lambda struct: struct[0])


# What the check must notice, and what it must not: the files of a folder, and the circles in it.
CALL = 'int {0}(int x)\n{{\n    return {1};\n}}\n'


def file_of(name, body):
    return CALL.format(name, body)


BACK = file_of('fb', 'fa(x)')
WRITTEN = [
    ('two files that call each other', {'a': file_of('fa', 'fb(x)'), 'b': BACK}, ['ab']),
    ('calls that go one way', {'a': file_of('fa', 'fb(x)'), 'b': file_of('fb', 'x')}, []),
    ('three files', {'a': file_of('fa', 'fb(x)'), 'b': file_of('fb', 'fc(x)'), 'c': file_of('fc', 'fa(x)')}, ['abc']),
    ('a file that only calls', {'a': file_of('fa', 'fb(x)'), 'b': BACK, 'c': file_of('fc', 'fa(x) + fb(x)')}, ['ab']),
    ('two circles, tied one way', {'a': file_of('fa', 'fb(x)'), 'b': file_of('fb', 'fa(x) + fc(x)'),
                                   'c': file_of('fc', 'fd(x)'), 'd': file_of('fd', 'fc(x)')}, ['ab', 'cd']),
    ('a function as an argument', {'a': file_of('fa', 'apply(fb, x)'), 'b': BACK}, ['ab']),
    ('a function whose address is taken', {'a': file_of('fa', 'apply(&fb)'), 'b': BACK}, ['ab']),
    ('a function in a struct', {'a': 'const table t = {.first = fb};\n' + file_of('fa', 'x'), 'b': BACK}, ['ab']),
    ('a function in an array', {'a': 'static row rows[] = {{1, fb}, {2, 0}};\n' + file_of('fa', 'x'), 'b': BACK},
     ['ab']),
    ('a call in a macro', {'a': '#define CALL(x) \\\n    fb(x)\n' + file_of('fa', 'CALL(x)'), 'b': BACK}, ['ab']),
    ('a call of a static function', {'a': 'static ' + file_of('inner', 'fb(x)') + file_of('fa', 'inner(x)'), 'b': BACK},
     ['ab']),
    ('a head over three lines', {'a': 'const char *\nfa(int x,\n   int y)\n{\n    fb(x);\n}\n', 'b': BACK}, ['ab']),
    ('a callback as a parameter', {'a': 'void fa(void (*f)(int), int x)\n{\n    f(x);\n    fb(x);\n}\n', 'b': BACK},
     ['ab']),
    ('a static function of that name', {'a': 'static ' + file_of('fb', 'x') + file_of('fa', 'fb(x)'), 'b': BACK}, []),
    ('a comment and a string', {'a': '/* fb(x) */\n' + file_of('fa', 'say("fb(x)") /* fb(x) */ + \'"\''), 'b': BACK},
     []),
    ('a declaration', {'a': 'int fb(int x);\n' + file_of('fa', 'x'), 'b': BACK}, []),
    ('a member of that name', {'a': file_of('fa', 'p->fb(x) + s.fb(x)'), 'b': BACK}, []),
    ('a parameter of that name', {'a': 'int fa(job *fb)\n{\n    return use(fb);\n}\n', 'b': BACK}, []),
    ('a local of that name', {'a': 'int fa(int x)\n{\n    job *fb = first(x);\n    return use(fb);\n}\n', 'b': BACK},
     []),
    ('programs that each have a main', {'a': file_of('main', 'x'), 'b': file_of('main', 'x')}, []),
    ('two folders', {'a/x': file_of('fa', 'fb(x)'), 'b/x': BACK}, ['ab']),
    ('two folders, one way', {'a/x': file_of('fa', 'fb(x)'), 'a/y': file_of('fd', 'fa(x)'),
                               'b/x': file_of('fb', 'x')}, []),
]


def written_is_seen(files, expected):
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in files.items():
            path = pathlib.Path(scratch) / f'{name}.c'
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding='utf-8')
        ties = ties_between_folders if '/' in min(files) else ties_in
        found = circles_of(ties(pathlib.Path(scratch)))
    return found == set(map(frozenset, expected)), found


def show(folder, name):
    """Which file uses which functions of which others; "o" marks those between files of a circle."""
    ties = ties_between_folders(folder) if name in TOPS and any(folder.glob('*/*.c')) else ties_in(folder)
    circles = circles_of(ties)
    for (caller, called), functions in sorted(ties.items()):
        mark = 'o' if any({caller, called} <= circle for circle in circles) else ' '
        print(f'{mark} {name}: {caller} -> {called}: {", ".join(sorted(functions))}')


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get('TAKT_SOURCE', here)).resolve()
    if len(sys.argv) > 2:
        for name in sys.argv[2:]:
            show(tree / name, name.rstrip('/'))
        return
    report = tap.Report()
    folders = folders_of(tree)
    report.check(folders, f'there are sources under {tree.name}')
    circles = {name: circles_of(ties_in(folder)) for name, folder in folders.items()}
    for top in TOPS:
        circles[top] = circles.get(top, set()) | circles_of(ties_between_folders(tree / top))
    faults = list(circle_faults(circles, KNOWN))
    report.check(not faults, f'calls point one way in {len(folders)} folders, but for {sum(map(len, KNOWN.values()))} '
                             'known circles', '\n'.join(faults))
    paths = [path for top in TOPS for path in sorted((tree / top).rglob('*.c'))]
    faults = [f'{function}: {", ".join(str(path.relative_to(tree)) for path in found)}'
              for function, found in twice_defined(paths).items()]
    report.check(not faults, f'each function of {len(paths)} files has a name of its own', '\n'.join(faults))
    with tempfile.TemporaryDirectory() as scratch:
        written = [pathlib.Path(scratch) / name for name in ('a.c', 'b.c')]
        for path in written:
            path.write_text(file_of('main', 'x') + file_of('fa', 'x') + 'static ' + file_of('fb', 'x'), encoding='utf-8')
        report.check(list(twice_defined(written)) == ['fa'], 'a name that two files have for others is seen')
    for what, files, expected in WRITTEN:
        seen, found = written_is_seen(files, expected)
        report.check(seen, f'{what}: {"a circle" if expected else "no circle"}',
                     f'found: {[sorted(circle) for circle in found]}')
    report.check(list(circle_faults({'lib/a': {frozenset('ab')}}, {})), 'a circle that is not on the list is a fault')
    report.check(not list(circle_faults({'lib/a': {frozenset('ab')}}, {'lib/a': ['a b']})), 'one that is on it is none')
    report.check(list(circle_faults({'lib/a': set()}, {'lib/a': ['a b']})), 'one on the list that is gone is a fault')
    report.check(len(list(circle_faults({'lib/a': {frozenset('ab')}}, {'lib/a': ['a b c']}))) == 2,
                 'one that has become smaller is a fault on both sides')
    for name, folder in folders.items():
        members, struct = largest_struct(folder)
        print(f'# {name}: the largest struct is {struct}, {members} members')
    report.end()


if __name__ == '__main__':
    main()
