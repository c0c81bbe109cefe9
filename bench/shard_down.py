#!/usr/bin/env python3
"""
One shard of a cluster down: how late work of the other shards starts. A cluster of six nodes, one worker with keys on all
shards. In turn all nodes run, and one primary is killed together with its replica. A JSON line for each turn and one for
all, of the keys on the two shards that stay.

Usage: shard_down.py BUILD; TURNS sets how many (6), SECONDS how long each lasts (8), KEYS how many keys (60), RATE the
rate of each (20/s).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / 'tests'))
from clusters import cluster  # noqa: E402  pylint: disable=wrong-import-position

TURNS = int(os.environ.get('TURNS') or 6)
SECONDS = int(os.environ.get('SECONDS') or 8)
KEYS = int(os.environ.get('KEYS') or 60)
RATE = os.environ.get('RATE') or '20/s'
SETTLE_S = 2  # after each change


def quantile(values, part):
    return sorted(values)[int(len(values) * part)] if values else None


def figures(late):
    return {'starts': len(late), 'late_p50_us': quantile(late, 0.5), 'late_p99_us': quantile(late, 0.99),
            'late_max_us': max(late, default=None)}


def take_turns(fleet, down):
    """Returns the instants from and until which each turn counts: (us, us, whether the shard is down)."""
    turns = []
    for number in range(2 * TURNS):
        is_down = number % 2 == 1
        for node in down:
            if is_down:
                node.stop()
            elif number > 0:
                node.start()
        if not is_down:
            fleet.wait(lambda: all('cluster_state:ok' in node.say('cluster', 'info') for node in fleet.nodes)
                       and fleet.replicas_follow(), 'the shard does not come back')
        time.sleep(SETTLE_S)
        from_us = time.time_ns() // 1000
        time.sleep(SECONDS)
        turns.append((from_us, time.time_ns() // 1000, is_down))
    return turns


def main():
    program = pathlib.Path(sys.argv[1]) / 'bench' / 'bench-shards'
    seconds = 2 * TURNS * (SECONDS + SETTLE_S) + 60
    with tempfile.TemporaryDirectory() as folder, \
            cluster(pathlib.Path(folder), cluster_require_full_coverage='no') as fleet, \
            open(f'{folder}/starts', 'w+', encoding='ascii') as starts:
        down = [fleet.nodes[2], fleet.nodes[5]]  # a primary and its replica
        with subprocess.Popen([program, fleet.url, RATE, str(KEYS), str(seconds)], stdout=starts) as worker:
            time.sleep(SETTLE_S)
            slots = {key: fleet.slot_of(f'takt:{{default/bench/{key}}}') for key in range(KEYS)}
            staying = {key for key, slot in slots.items() if fleet.owner(slot) is not fleet.nodes[2]}
            turns = take_turns(fleet, down)
            assert worker.wait() == 0
        starts.seek(0)
        records = [tuple(map(int, line.split())) for line in starts]
    late = {False: [], True: []}
    for from_us, until_us, is_down in turns:
        own = [late_us for key, at_us, late_us in records if key in staying and from_us <= at_us < until_us]
        gone = sum(key not in staying and from_us <= at_us < until_us for key, at_us, _ in records)
        late[is_down] += own
        print(json.dumps({'bench': 'shard-down', 'down': is_down, **figures(own), 'starts_of_that_shard': gone}), flush=True)
    up, away = quantile(late[False], 0.99), quantile(late[True], 0.99)
    print(json.dumps({'bench': 'shard-down', 'turns': TURNS, 'keys': KEYS, 'rate': RATE, 'up': figures(late[False]),
                      'down': figures(late[True]), 'p99_ratio': round(away / up, 3)}))


if __name__ == '__main__':
    main()
