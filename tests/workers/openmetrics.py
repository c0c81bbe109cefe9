"""
A strict reader of OpenMetrics text (version 1.0.0): a text against the specification is a ValueError. It knows the
types that workers write.
"""

import re

NAME = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r'-?\d+(\.\d+)?(e[+-]?\d+)?')
BOUND = re.compile(r'\d+\.\d+|\d+e-\d+|\+Inf')
SUFFIXES = {'counter': ['_total'], 'gauge': [''], 'histogram': ['_bucket', '_count', '_sum'],
            'summary': ['_count', '_sum'], 'info': ['_info']}


def need(good, line, what):
    if not good:
        raise ValueError(f'{what}: {line!r}')


def read_labels(text, line):
    """The labels between { and }, as a sorted tuple of pairs."""
    labels, at = [], 0
    while True:
        label = LABEL.match(text, at)
        need(label, line, 'no label')
        value = re.sub(r'\\(.)', lambda found: '\n' if found.group(1) == 'n' else found.group(1), label.group(2))
        labels.append((label.group(1), value))
        at = label.end()
        if at == len(text):
            break
        need(text[at] == ',', line, 'no comma between labels')
        at += 1
    need(len({name for name, _ in labels}) == len(labels), line, 'a label twice')
    return tuple(sorted(labels))


def split_sample(line):
    name = NAME.match(line)
    need(name, line, 'no name')
    rest, labels = line[name.end():], ()
    if rest.startswith('{'):
        end = rest.rindex('} ')
        labels = read_labels(rest[1:end], line)
        rest = rest[end + 1:]
    need(rest.startswith(' ') and NUMBER.fullmatch(rest[1:]), line, 'no number')
    return name.group(), labels, float(rest[1:])


class Family:
    def __init__(self, name):
        self.name = name
        self.told = {}
        self.samples = {}

    def tell(self, key, text, line):
        need(key not in self.told and not self.samples, line, f'{key} where it cannot be')
        if key == 'TYPE':
            need(text in SUFFIXES, line, 'an unknown type')
        if key == 'UNIT':
            need(self.name.endswith('_' + text), line, 'the name does not end with its unit')
        self.told[key] = text

    def add(self, line):
        name, labels, value = split_sample(line)
        suffixes = SUFFIXES[self.told['TYPE']]
        need(name in [self.name + suffix for suffix in suffixes], line, 'a name that is not of its family')
        need((name, labels) not in self.samples, line, 'a sample twice')
        need(self.told['TYPE'] in ('gauge', 'info') or value >= 0, line, 'less than nothing')
        need(self.told['TYPE'] != 'info' or value == 1, line, 'an info is 1')
        self.samples[name, labels] = value

    def check(self):
        """What only all samples together show: buckets that grow, and end with the count."""
        need(set(self.told) >= {'TYPE', 'HELP'}, self.name, 'without type or help')
        if self.told['TYPE'] != 'histogram':
            return
        rows = {}
        for (name, labels), value in self.samples.items():
            if name.endswith('_bucket'):
                bound = dict(labels)['le']
                need(BOUND.fullmatch(bound), bound, 'no bound')
                rows.setdefault(tuple(pair for pair in labels if pair[0] != 'le'), []).append((float(bound), value))
        for labels, row in rows.items():
            need(row == sorted(row) and [count for _, count in row] == sorted(count for _, count in row), row,
                 'buckets that do not grow')
            need(row[-1][0] == float('inf') and row[-1][1] == self.samples[self.name + '_count', labels], row,
                 'the last bucket is not the count')
            need((self.name + '_sum', labels) in self.samples, self.name, 'no sum')


def parse(text):
    """Families by name."""
    need(text.endswith('\n# EOF\n'), text[-20:], 'it does not end as it has to')
    families, now = {}, None
    for line in text[:-len('# EOF\n')].splitlines():
        if line.startswith('# '):
            _, key, name, *rest = line.split(' ', 3)
            need(key in ('TYPE', 'UNIT', 'HELP') and rest and NAME.fullmatch(name), line, 'no metadata')
            if now is None or name != now.name:
                need(name not in families, line, 'a family in two pieces')
                now = families[name] = Family(name)
            now.tell(key, rest[0], line)
        else:
            need(now, line, 'a sample without a family')
            now.add(line)
    for family in families.values():
        family.check()
    return families


def value(families, name, **labels):
    """One sample; None: it is not there."""
    wanted = (name, tuple(sorted(labels.items())))
    found = [family.samples[wanted] for family in families.values() if wanted in family.samples]
    return found[0] if found else None
