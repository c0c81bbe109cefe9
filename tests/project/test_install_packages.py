#!/usr/bin/env python3
"""
scripts/install-packages with nothing to do, or without the right to do it: it says so and changes nothing.
scripts/fresh-check shows that it installs missing packages.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

SCRIPT = pathlib.Path(os.environ['TAKT_SOURCE']) / 'scripts' / 'install-packages'
TOOLS = ['sh', 'env', 'cat', 'cut', 'tr', 'sed', 'ls', 'grep', 'id', 'mktemp', 'rm', 'gcc', 'meson', 'pkg-config']


def run(*groups, **options):
    return subprocess.run(['sh', SCRIPT, *groups], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)


def main():
    report = tap.Report()

    done = run('run')
    report.check((done.returncode, done.stdout) == (0, ''), 'with everything there it is silent', done.stdout)

    for groups in [(), ('everything',)]:
        done = run(*groups)
        report.check(done.returncode != 0 and 'run' in done.stdout, f'the groups {groups} are refused', done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        for tool in TOOLS:
            where = shutil.which(tool)
            if where:
                (pathlib.Path(folder) / tool).symlink_to(where)
        done = run('run', env={'PATH': folder})
        report.check(done.returncode != 0, 'without ninja and apt-get it fails')
        report.check('Ninja' in done.stdout and 'no apt-get' in done.stdout, 'and names both', done.stdout)
        report.check('libuv' not in done.stdout, 'and does not name what is there', done.stdout)
    report.end()


if __name__ == '__main__':
    main()
