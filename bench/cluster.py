#!/usr/bin/env python3
"""
A cluster of three primaries and three replicas against one server: workers with keys on all nodes. A JSON line for each
store and rate: starts in a second, calls of scripts and commands (those of scripts included) for each start, connections
of each worker, and how late work starts.

Usage: cluster.py BUILD; WORKERS sets how many (4), SECONDS how long each run lasts (8), KEYS how many keys (60).
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
import redis_server  # noqa: E402  pylint: disable=wrong-import-position
from clusters import cluster  # noqa: E402  pylint: disable=wrong-import-position

WORKERS = int(os.environ.get('WORKERS') or 4)
SECONDS = int(os.environ.get('SECONDS') or 8)
KEYS = int(os.environ.get('KEYS') or 60)
RATES = '20/s', '1000/s'  # of each key: the first is paced, the second is more than the machine can do
SETTLE_S = 2  # until all workers have all keys


def count(node):
    """Calls of scripts, and all commands of clients, that a server has had."""
    said = node.say('info', 'commandstats')
    calls = {name: int(number) for name, number in re.findall(r'cmdstat_([^:]+):calls=(\d+)', said)}
    of_servers = ('replconf', 'psync', 'ping', 'info', 'cluster|', 'client|', 'config|', 'command')
    return calls.get('evalsha', 0), sum(number for name, number in calls.items() if not name.startswith(of_servers))


def connections(node):
    """Those of clients: without replicas, and without the one that asks."""
    return node.say('client', 'list', 'type', 'normal').count('id=') + node.say('client', 'list', 'type', 'pubsub').count('id=') - 1


def measure(program, folder, nodes, url, store, rate):
    most = 2 * SETTLE_S + SECONDS
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open(f'{folder}/starts{worker}', 'w+', encoding='ascii')) for worker in range(WORKERS)]
        workers = [stack.enter_context(subprocess.Popen([program, url, rate, str(KEYS), str(most)], stdout=file)) for file in files]
        time.sleep(SETTLE_S)
        before, from_us = [count(node) for node in nodes], time.time_ns() // 1000
        time.sleep(SECONDS)
        after, until_us = [count(node) for node in nodes], time.time_ns() // 1000
        held = sum(map(connections, nodes))
        assert all(worker.wait() == 0 for worker in workers)
        late = []
        for file in files:
            file.seek(0)
            late += [late_us for _, at_us, late_us in (map(int, line.split()) for line in file) if from_us <= at_us < until_us]
    late.sort()
    calls, commands = (sum(new[i] - old[i] for new, old in zip(after, before)) for i in (0, 1))
    print(json.dumps({'bench': 'cluster', 'store': store, 'workers': WORKERS, 'keys': KEYS, 'rate': rate,
                      'starts_per_s': round(len(late) * 1e6 / (until_us - from_us)),
                      'calls_per_start': round(calls / len(late), 3), 'commands_per_start': round(commands / len(late), 3),
                      'connections_per_worker': held / WORKERS, 'late_p50_us': late[len(late) // 2],
                      'late_p99_us': late[len(late) * 99 // 100]}), flush=True)


def main():
    program = pathlib.Path(sys.argv[1]) / 'bench' / 'bench-shards'
    with tempfile.TemporaryDirectory() as folder:
        for rate in RATES:
            with redis_server.server(pathlib.Path(folder), f'one{rate[:2]}') as one:
                measure(program, folder, [one], one.url, 'one server', rate)
            with tempfile.TemporaryDirectory() as its_folder, cluster(pathlib.Path(its_folder)) as fleet:
                measure(program, folder, fleet.nodes[:3], fleet.url, 'cluster, 3+3', rate)


if __name__ == '__main__':
    main()
