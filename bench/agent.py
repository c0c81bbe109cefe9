#!/usr/bin/env python3
"""
Processes behind one agent: what they cost the Redis server, beside the same ones without an agent. JSON lines.

Usage: agent.py BUILD [RATE [PROCESSES [SECONDS]]]
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

WARM_UP_S = 1  # of bench-pacing: not in its count of grants


def wait_for(path, process):
    while not path.exists():
        if process.poll() is not None:
            raise SystemExit(f'{process.args[0]} ended with {process.returncode}')
        time.sleep(0.01)


@contextlib.contextmanager
def running(*words, **options):
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def info(folder, section):
    told = subprocess.run(['redis-cli', '-s', f'{folder}/redis', 'info', section], capture_output=True, text=True,
                          check=True).stdout
    return dict(line.strip().split(':', 1) for line in told.splitlines() if ':' in line)


def count_requests(folder):
    """Scripts that were called. What they do in the server is not counted."""
    called = info(folder, 'commandstats').get('cmdstat_evalsha', 'calls=0')
    return int(called.split(',')[0].split('=')[1])


def measure(folder, build, store, rate, processes, seconds):
    """Runs the processes: grants a second, and requests to the server and connections meanwhile."""
    before = count_requests(folder)
    told = subprocess.Popen([f'{build}/bench/bench-pacing', store, rate, processes, seconds], stdout=subprocess.PIPE,
                            text=True)
    time.sleep(float(seconds) / 2)
    connections = int(info(folder, 'clients')['connected_clients']) - 1
    figures = json.loads(told.communicate()[0].splitlines()[0])
    requests = count_requests(folder) - before
    grants = figures['achieved_per_second'] * (float(seconds) + WARM_UP_S)
    print(json.dumps({'bench': 'agent', 'store': store.split(':')[0], 'rate': rate, 'processes': int(processes),
                      'grants_per_s': figures['achieved_per_second'], 'requests_per_grant': round(requests / grants, 4),
                      'connections': connections}))


def main(build, rate='200/s', processes='64', seconds='10'):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        with running('redis-server', '--port', '0', '--unixsocket', f'{folder}/redis', '--save', '') as server:
            wait_for(place / 'redis', server)
            measure(folder, build, f'unix:{folder}/redis', rate, processes, seconds)
            with running(f'{build}/agent/takt-agent', '--listen', f'{folder}/agent', '--store',
                         f'unix:{folder}/redis', stderr=subprocess.DEVNULL) as agent:
                wait_for(place / 'agent', agent)
                measure(folder, build, f'agent:{folder}/agent', rate, processes, seconds)


if __name__ == '__main__':
    main(*sys.argv[1:])
