#!/usr/bin/env python3
"""
What the documents show is what the project has: the C program in README.md is examples/worker.c to the letter, every
link leads somewhere, and the policies they print are accepted by `takt check`.
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


def main():
    source = pathlib.Path(os.environ['TAKT_SOURCE'])
    readme = (source / 'README.md').read_text()
    report = tap.Report()

    example = (source / 'examples' / 'worker.c').read_text()
    report.check(blocks(readme, 'c') == [example], 'the program in README.md is examples/worker.c')
    report.check(len(example.splitlines()) <= 28, 'it is about 20 lines long')

    for page in [source / 'README.md', source / 'CONTRIBUTING.md', *sorted((source / 'docs').glob('*.md'))]:
        missing = [link for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', page.read_text())
                   if not (page.parent / link).exists()]
        report.check(not missing, f'links of {page.name}', f'lead nowhere: {missing}')

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
