#!/usr/bin/env python3
"""
What the documents show is what the project has: the C program in README.md is examples/worker.c to the letter, every
link leads to a file and a heading, every table is whole, and the policies they print are accepted by `takt check`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402


def blocks(text, language):
    return re.findall(r'^```' + language + r'\n(.*?)^```$', text, re.S | re.M)


def anchors(page):
    """What `#...` may name: the headings, as GitHub writes them."""
    prose = re.sub(r'^```.*?^```$', '', page.read_text(), flags=re.S | re.M)
    headings = [re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading) for heading in re.findall(r'^#+ (.*)$', prose, re.M)]
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in headings}


def leads_nowhere(page, link):
    path, _, anchor = link.partition('#')
    target = page.parent / path if path else page
    return not target.exists() or (anchor and anchor not in anchors(target))


def cut_rows(text):
    """Rows that an empty line parts from their table: they are no table, and shown as they are written."""
    lines = ['', *text.splitlines(), '']
    return [line for before, line, after in zip(lines, lines[1:], lines[2:])
            if line.startswith('|') and before == '' and not re.match(r'\|[ :|-]+$', after)]


def main():
    source = pathlib.Path(os.environ['TAKT_SOURCE'])
    readme = (source / 'README.md').read_text()
    report = tap.Report()

    example = (source / 'examples' / 'worker.c').read_text()
    report.check(blocks(readme, 'c') == [example], 'the program in README.md is examples/worker.c')
    report.check(len(example.splitlines()) <= 28, 'it is about 20 lines long')

    folders = ['.', 'docs', 'bench', 'lib/store/redis/lua']
    for page in sorted(page for folder in folders for page in (source / folder).glob('*.md')):
        text = page.read_text()
        missing = [link for link in re.findall(r'\]\(([^):]+)\)', text) if leads_nowhere(page, link)]
        report.check(not missing, f'links of {page.name}', f'lead nowhere: {missing}')
        report.check(not cut_rows(text), f'tables of {page.name}', f'rows without a head: {cut_rows(text)}')

    command = os.environ.get('TAKT_COMMAND')
    for page in [source / 'README.md', source / 'docs' / 'policy.md']:
        for number, policy in enumerate(blocks(page.read_text(), 'yaml'), 1):
            if not policy.lstrip().startswith(('limits:', 'store:', 'namespace:', 'revision:', '#')):
                continue  # a fragment
            with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
                file.write(policy)
                file.flush()
                done = subprocess.run([command, 'check', file.name], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, check=False)
            report.check(done.returncode == 0, f'policy {number} of {page.name}', policy + done.stdout)
    report.end()


main()
