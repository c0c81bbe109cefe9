#!/usr/bin/env python3
"""
Hundreds of seeds of fleet/promises, in as many processes as there are processors. A seed that fails is told with the
last events before it; `promises --seed N` takes the same course again.

It runs the first SEEDS, and of the later ones those that notice a fault of test_mutants.py (mutant_seeds.txt).
$FUZZ_SECONDS, as in `make fuzz`: for so many seconds seeds that nobody may have tried yet.

Usage: test_promises.py [SEEDS]; $TAKT_BUILD has the program.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402
import test_mutants  # noqa: E402

SOURCE = pathlib.Path(os.environ.get('TAKT_SOURCE') or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')
SEEDS = 300
PART = 25  # seeds that one process takes
FOUND = [1003167377589]  # seeds of a search that have failed once
FURTHER = 1 << 40  # seeds of a search begin below that


def run(first, last):
    """Runs these seeds. Returns how many passed, and what is to be said of the one that did not."""
    done = ends.run([BUILD / 'tests' / 'fleet_promises', '--seeds', f'{first}..{last}'], capture_output=True, text=True,
                    deadline=3600)
    if done.returncode == 0:
        return last - first + 1, ''
    failed = re.search(r'^seed (\d+) failed', done.stdout, re.MULTILINE)
    return int(failed.group(1)) - first if failed else 0, done.stdout + done.stderr or f'it ended with {done.returncode}'


def parts_of(first, last):
    return [(begin, min(begin + PART - 1, last)) for begin in range(first, last + 1, PART)]


def check(report, pool, parts):
    for (begin, end), (passed, said) in zip(parts, pool.map(lambda part: run(*part), parts)):
        report.check(not said, f'the promises hold from seed {begin} to {end}', f'{passed} seeds passed\n{said}')


def search(report, pool, seconds):
    until = time.monotonic() + seconds
    first = random.randrange(SEEDS, FURTHER)
    while time.monotonic() < until:
        check(report, pool, parts_of(first, first + PART * os.cpu_count() - 1))
        first += PART * os.cpu_count()


def main():
    seconds = int(os.environ.get('FUZZ_SECONDS') or 0)
    report = tap.Report()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if seconds:
            search(report, pool, seconds)
        else:
            seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
            late = {seed for seed in test_mutants.read_seeds().values() if seed > seeds}
            check(report, pool, [*parts_of(1, seeds), *((seed, seed) for seed in sorted({*late, *FOUND}))])
    report.end()


if __name__ == '__main__':
    main()
