#!/usr/bin/env python3
"""
Ten thousand seeds of fleet/promises, in as many processes as there are processors. A seed that fails is told with the
last events before it; `promises --seed N` takes the same course again.

Usage: test_promises.py [SEEDS]; $TAKT_BUILD has the program.
"""

import concurrent.futures
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402

SOURCE = pathlib.Path(os.environ.get('TAKT_SOURCE') or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')
PART = 250  # seeds that one process takes


def run(first, last):
    """Runs these seeds. Returns how many passed, and what is to be said of the one that did not."""
    done = ends.run([BUILD / 'tests' / 'fleet_promises', '--seeds', f'{first}..{last}'], capture_output=True, text=True,
                    deadline=3600)
    if done.returncode == 0:
        return last - first + 1, ''
    failed = re.search(r'^seed (\d+) failed', done.stdout, re.MULTILINE)
    return int(failed.group(1)) - first if failed else 0, done.stdout + done.stderr or f'it ended with {done.returncode}'


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    report = tap.Report()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = [pool.submit(run, first, min(first + PART - 1, seeds)) for first in range(1, seeds + 1, PART)]
        for number, part in enumerate(parts):
            passed, said = part.result()
            first = 1 + number * PART
            report.check(not said, f'the promises hold from seed {first} to {min(first + PART - 1, seeds)}',
                         f'{passed} seeds passed\n{said}')
    report.end()


if __name__ == '__main__':
    main()
