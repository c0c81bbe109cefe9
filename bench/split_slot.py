#!/usr/bin/env python3
"""
A slot of a cluster that stays half-migrated, with its only ledger on one node and the ledger's places on another: how
many calls the workers in line send, in each second, and how soon the first start comes when the slot has moved. A JSON
line.

Usage: split_slot.py BUILD; WORKERS sets how many (16), SECONDS how long the slot stays so (10).
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / 'tests'))
from clusters import cluster  # noqa: E402  pylint: disable=wrong-import-position

WORKERS = int(os.environ.get('WORKERS') or 16)
SECONDS = int(os.environ.get('SECONDS') or 10)
RATE = '20/s'
SETTLE_S = 3  # until all workers are in line
AFTER_S = 8  # until all have begun again


def calls(node):
    """Of scripts: those that ran, and those that the node answered with TRYAGAIN, ASK or MOVED."""
    said = node.say('info', 'commandstats')
    return sum(sum(map(int, re.findall(name + r'=(\d+)', line))) for line in said.split('\n') if line.startswith('cmdstat_evalsha:')
               for name in (':calls', 'rejected_calls'))


def measure(fleet, program, folder):
    most = SETTLE_S + SECONDS + AFTER_S
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open(f'{folder}/starts{worker}', 'w+', encoding='ascii')) for worker in range(WORKERS)]
        workers = [stack.enter_context(subprocess.Popen([program, fleet.url, RATE, '1', str(most)], stdout=file)) for file in files]
        time.sleep(SETTLE_S)
        source, places = next((node, key) for node in fleet.nodes[:3] for key in node.say('keys', '*').split('\n')
                              if key.endswith(':places'))
        target = fleet.nodes[(fleet.nodes.index(source) + 1) % 3]
        slot = fleet.slot_of(places)
        fleet.begin_move(slot, source, target)
        said = source.say('migrate', '127.0.0.1', fleet.ports[target], places, '0', '5000')
        assert said == 'OK', said
        split_us, counts = time.time_ns() // 1000, []
        before = calls(source) + calls(target)
        for second in range(SECONDS):
            time.sleep(max(0, split_us / 1e6 + second + 1 - time.time()))
            counts.append(calls(source) + calls(target))
        fleet.end_move(slot, source, target)
        moved_us = time.time_ns() // 1000
        assert all(worker.wait() == 0 for worker in workers)
        starts = []
        for file in files:
            file.seek(0)
            starts.append([int(line.split()[1]) for line in file])
    by_second = [count - earlier for count, earlier in zip(counts, [before, *counts])]
    first = [next((at_us for at_us in own if at_us > moved_us), None) for own in starts]
    again = [at_us - moved_us for at_us in first if at_us]
    print(json.dumps({'bench': 'split slot', 'workers': WORKERS, 'seconds': SECONDS, 'calls_by_second': by_second,
                      'calls_per_s': round(sum(by_second) / SECONDS, 1), 'starts_while_split': sum(
                          split_us + 200000 < at_us <= moved_us for own in starts for at_us in own),
                      'first_start_after_ms': min(again) // 1000 if again else None, 'workers_again': len(again)}), flush=True)


def main():
    program = pathlib.Path(sys.argv[1]) / 'bench' / 'bench-shards'
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as its_folder:
        with cluster(pathlib.Path(its_folder)) as fleet:
            measure(fleet, program, folder)


if __name__ == '__main__':
    main()
