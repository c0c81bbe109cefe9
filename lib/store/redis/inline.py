"""
Puts small functions of the scripts into their callers.  A function that is made costs a server some 1,800 instructions
and a table much as well, so what several paths share is written once, as a function marked by the line `-- inline` above
it, and as tables marked by `-- flat: NAME NAME` above the function that has them; both are gone when a script is loaded.

- A function that is one `return` is put wherever it is called, in the place of the call.
- Any other is called in a statement of its own: `f(a)`, `local x, y = f(a)` or `x, y = f(a)`.  It returns from nowhere
  within a loop.
- A flat table is declared as `local t = {}` and used as `t.field`, or given as `t` to an inline function whose parameter
  has the same name; each field becomes a local.

A build fails where something is not so.
"""

import re
import sys

TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[A-Za-z_]\w*|\d[\w.]*|\.\.\.?|[=~<>]=|\s+|.", re.DOTALL)
HEAD = re.compile(r'local function (\w+)\(([\w, ]*)\)$')
LEFT = re.compile(r'(?:^|\n)((?:local )?[\w., ]+ = |)$')


def fail(message):
    sys.exit(f'embed.py: {message}')


def tokens(text):
    return TOKEN.findall(text)


def rename(text, names):
    """Names in the places of others, where they are variables: no fields, no parts of strings."""
    found, before = [], ''
    for token in tokens(text):
        found.append(names[token] if token in names and before not in ('.', ':') else token)
        before = token if not token.isspace() else before
    return ''.join(found)


def arguments_of(text, at):
    """The arguments in the brackets that open at `at`, and where these end."""
    depth, words, done = 0, [''], at
    for token in tokens(text[at:]):
        done += len(token)
        depth += (token in '([{') - (token in ')]}') if len(token) == 1 else 0
        if depth == 0:
            return [word.strip() for word in words if word.strip()], done
        if token == ',' and depth == 1:
            words.append('')
        elif not (token == '(' and depth == 1 and words == ['']):
            words[-1] += token
    fail(f'brackets that do not close: {text[at:at + 60]}')
    return None


def returns_of(name, body):
    """The body in parts: text, and each `return` (its values) that is the function's own."""
    parts, blocks, closing = [''], [], False
    for token in tokens(body):
        if token in ('for', 'while', 'repeat'):
            blocks.append('loop')
            closing = token != 'repeat'
        elif token == 'do' and closing:
            closing = False
        elif token in ('do', 'if', 'function'):
            blocks.append(token)
        elif token in ('end', 'until') and blocks:
            blocks.pop()
        if token == 'return' and 'function' not in blocks:
            if 'loop' in blocks:
                fail(f'{name}: an inline function cannot return from within a loop')
            parts += ['return', '']
        else:
            parts[-1] += token
    return parts


class Inline:
    """One function."""

    def __init__(self, name, parameters, body):
        self.name, self.parameters = name, parameters
        parts = returns_of(name, body)
        self.parts, self.calls = parts, 0
        self.value = parts[2].strip() if len(parts) == 3 and not parts[0].strip() else None
        text = ''.join(parts)
        self.assigned = {one for one in parameters if re.search(rf'(?:^|\n|, ){one}(?:, [\w., ]+)? = ', text)}

    def as_value(self, arguments, whole):
        """In the place of a call; `whole`: it is all of what is assigned or returned."""
        for one, argument in zip(self.parameters, arguments):
            plain = re.fullmatch(r"[\w.]+|'[^']*'|[\w.]+\[[\w.]+\]", argument)
            if not plain and tokens(self.value).count(one) > 1:
                fail(f'{self.name}({", ".join(arguments)}): give {one} a name first: it is used more than once')
        names = {one: argument if re.fullmatch(r"[\w.]+|'[^']*'|[\w.]+\[[\w.]+\]", argument) else f'({argument})'
                 for one, argument in zip(self.parameters, arguments)}
        value = rename(self.value, names)
        return value if whole else f'({value})'

    def as_statement(self, arguments, left):
        """In the place of a statement: `left` is what is assigned, with its " = "."""
        self.calls += 1
        targets = left.replace('local ', '').removesuffix(' = ').split(', ') if left else []
        results = [f'{self.name}_{i + 1}' for i in range(len(targets))]
        given = [(one, argument) for one, argument in zip(self.parameters, arguments)
                 if one != argument or one in self.assigned]
        lines = [f'local {", ".join(results)}'] if results else []
        lines.append('repeat')
        if given:
            lines.append(f'local {", ".join(one for one, _ in given)} = {", ".join(value for _, value in given)}')
        text = self.parts[0]
        for after in self.parts[2::2]:
            value, _, rest = after.partition('\n')
            while value.rstrip().endswith((',', '(', ' and', ' or', ' ..')) or rest.lstrip().startswith(
                    ('and ', 'or ', '.. ', '+ ', ')')):
                line, _, rest = rest.partition('\n')
                value += ' ' + line
            if results and value.strip() not in ('', 'nil'):
                text += f'{", ".join(results)} = {value.strip()}\n'
            last = re.fullmatch(r'\s*', rest) and after is self.parts[-1]
            text += ('' if last else 'break\n') + rest
        lines += [text.strip(), 'until true']
        if results:
            lines.append(f'{left}{", ".join(results)}')
        return '\n'.join(lines)


def put_in(text, functions):
    """All calls of inline functions, the last one first: one may be an argument of another."""
    for function in reversed(functions.values()):
        while f'{function.name}(' in text:  # which takes less time than the search
            found = re.search(rf'(?<![\w.:]){function.name}\(', text)
            if not found:
                break
            arguments, ends = arguments_of(text, found.end() - 1)
            if len(arguments) != len(function.parameters):
                fail(f'{function.name} has {len(function.parameters)} parameters, not {len(arguments)}')
            left = LEFT.search(text, 0, found.start())
            alone = left and (ends == len(text) or text[ends] == '\n')
            before = text[:found.start()]
            if function.value is not None:
                whole = re.search(r'(?:[\w\]] =|return)\s+$', before) and text[ends:ends + 1] in ('', '\n')
                text = before + function.as_value(arguments, whole) + text[ends:]
            elif alone:
                text = (text[:left.start(1)] + function.as_statement(arguments, left.group(1)) + text[ends:])
            else:
                fail(f'{function.name} is more than one return: a call of it is a statement of its own')
    return text


def flatten(text, names):
    """Fields of the tables with these names become locals."""
    for name in names:
        fields = sorted(set(re.findall(rf'(?<![\w.:]){name}\.(\w+)', text)))
        declared = rf'(?m)^local {name} = \{{\}}$'
        if len(re.findall(declared, text)) != 1 or not fields:
            fail(f'a flat table is declared once, as "local {name} = {{}}"')
        text = re.sub(declared, 'local ' + ', '.join(f'{name}_{field}' for field in fields), text)
        found = tokens(text)
        for at in range(len(found)):
            if found[at] == name and (at == 0 or found[at - 1] not in ('.', ':')):
                if found[at + 1] != '.':
                    fail(f'{name} is flat: only its fields can be used')
                found[at:at + 3] = [f'{name}_{found[at + 2]}', '', '']
        text = ''.join(found)
    return text


def function_at(lines, at):
    """The lines of the function that begins there, whose end is indented as its head is."""
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == f'{indent}end':
            return lines[at], lines[at + 1:end], end
    fail(f'no end of: {lines[at]}')
    return None


class Inliner:
    """What has been marked in a script so far."""

    def __init__(self):
        self.functions = {}

    def take(self, lines, bare):
        """The lines of a piece, with nothing inline left; `bare` strips a line of comment and indentation."""
        kept, at, inline, flat = [], 0, False, []
        while at < len(lines):
            mark = lines[at].strip()
            if mark == '-- inline':
                inline = True
            elif mark.startswith('-- flat: '):
                flat = mark.removeprefix('-- flat: ').split()
            elif (inline or flat) and mark and not mark.startswith('--'):
                head, body, end = function_at(lines, at)
                text = put_in('\n'.join(filter(None, map(bare, body))), self.functions)
                text = flatten(text, flat) if flat else text
                if inline:
                    found = HEAD.match(head.strip())
                    if not found:
                        fail(f'only a local function can be inline: {head}')
                    name, parameters = found.group(1), [one for one in found.group(2).split(', ') if one]
                    self.functions[name] = Inline(name, parameters, text)
                else:
                    kept += [bare(head), text, 'end']
                at, inline, flat = end, False, []
            else:
                kept.append(bare(lines[at]))
            at += 1
        text = put_in('\n'.join(filter(None, kept)), self.functions)
        for name in self.functions:
            if name in text and re.search(rf'(?<![\w.:]){name}(?!\w|\s*=)', text):
                fail(f'{name} is inline: it can only be called')
        return text.split('\n')
