"""
What the scripts share with C is read from C's headers, so that it stands once: numbers (`#define TAKT_NAME value`), which
a script uses under the same name, and the list of operations (takt_op).
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ['include/takt', 'lib']
OPERATIONS = 'lib/store/store.h'
DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(TAKT_[A-Z0-9_]+)[ \t]+(.+)$', re.MULTILINE)
NUMBER = re.compile(r'(?:INT64_C\((\d+)\)|(\d+))(?![\w.])')
NAME = re.compile(r'TAKT_[A-Z0-9_]+')
SUM = re.compile(r'[\d\s()+*<-]+')  # sums, products and shifts of what NUMBER and NAME have replaced


def text_of(path):
    """A header without comments, with lines that are continued made one."""
    text = (ROOT / path).read_text(encoding='utf-8').replace('\\\n', ' ')
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.DOTALL)


class Constants:
    """The numbers of all headers, worked out when they are asked for."""

    def __init__(self):
        self.defined, self.used = {}, {OPERATIONS}
        for folder in FOLDERS:
            for path in sorted((ROOT / folder).rglob('*.h')):
                name_of_file = str(path.relative_to(ROOT))
                for name, value in DEFINE.findall(text_of(name_of_file)):
                    self.defined.setdefault(name, []).append((value.strip(), name_of_file))

    def number(self, name):
        """The value of a name, a whole number."""
        found = self.defined.get(name)
        if not found:
            sys.exit(f'embed.py: no header below {" and ".join(FOLDERS)} has a "#define {name}"')
        if len(found) > 1:
            sys.exit(f'embed.py: {name} is defined more than once: {", ".join(path for _, path in found)}')
        value, path = found[0]
        self.used.add(path)
        plain = NUMBER.sub(lambda number: number.group(1) or number.group(2), value)
        plain = NAME.sub(lambda other: str(self.number(other.group())), plain)
        if not SUM.fullmatch(plain):
            sys.exit(f'embed.py: {path}: {name} is no whole number that can be read here: {value}')
        return eval(plain)  # digits, brackets, + - * << and nothing else

    def files(self):
        """The headers from which something was taken."""
        return [ROOT / path for path in sorted(self.used)]

    def put_into(self, line):
        """A line of Lua with the numbers in the places of their names."""
        return NAME.sub(lambda name: str(self.number(name.group())), line)


def operations():
    """The names of takt_op in its order, in lower case."""
    found = re.search(r'typedef enum takt_op \{(.*?)\} takt_op;', text_of(OPERATIONS), re.DOTALL)
    names = [word.strip() for word in found.group(1).split(',')] if found else []
    if not names or not all(re.fullmatch(r'TAKT_OP_[A-Z]+', name) for name in names):
        sys.exit(f'embed.py: {OPERATIONS}: "typedef enum takt_op" is no plain list of TAKT_OP_NAME')
    return [name.removeprefix('TAKT_OP_').lower() for name in names]
