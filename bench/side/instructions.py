#!/usr/bin/env python3
"""
Machine instructions, which a busy machine does not change: of the server (the Lua scripts run there) and of a worker, for
one uncontended acquire, for one minimal script, and for one claim of four workers that share 200/s. JSON lines.

Usage: instructions.py BUILD        (needs valgrind)

Everything runs under callgrind twice, once longer than the other: the difference has neither start nor end in it.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from server import Server

SHORT, LONG = 500, 2500  # acquires
SHORT_S, LONG_S = 4, 12  # seconds of pacing


def callgrind(out):
    return ['valgrind', '-q', '--tool=callgrind', f'--callgrind-out-file={out}']


def instructions(out):
    return int(re.search(r'^(?:totals|summary): (\d+)', out.read_text(), re.MULTILINE).group(1))


def with_server(folder, act):
    """What act(server) returns, the server's instructions, and the requests to it."""
    out = folder / 'server'
    server = Server([*callgrind(out), 'redis-server'])
    try:
        came = act(server)
        requests = server.figures()['requests']
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
        return came, instructions(out), requests
    finally:
        server.close()


def one_by_one(build, folder, driver, count):
    def act(server):
        out = folder / 'worker'
        subprocess.run([*callgrind(out), build / 'bench' / driver, 'workload=latency', f'socket={server.socket}',
                        f'count={count}'], check=True, stdout=subprocess.DEVNULL)
        return instructions(out)

    worker, own, _ = with_server(folder, act)
    return worker, own


def paced(build, folder, workers, seconds):
    """The server's instructions and requests; without workers those of an idle one."""
    def act(server):
        end_us = int((time.monotonic() + seconds) * 1e6)
        words = [build / 'bench' / 'side-takt', 'workload=pacing', f'socket={server.socket}', 'rate=200',
                 'outstanding=50', f'end_us={end_us}']
        children = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(workers)]
        time.sleep(seconds)
        for child in children:
            child.wait()

    _, own, requests = with_server(folder, act)
    return own, requests


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for driver, what in (('side-takt', 'an uncontended acquire'), ('side-script', 'a minimal script')):
            (worker, server), (more_worker, more_server) = (one_by_one(build, folder, driver, n) for n in (SHORT, LONG))
            print(json.dumps({'bench': 'instructions', 'of': what,
                              'server': round((more_server - server) / (LONG - SHORT)),
                              'worker': round((more_worker - worker) / (LONG - SHORT))}), flush=True)
        (idle, _), (more_idle, _) = (paced(build, folder, 0, n) for n in (SHORT_S, LONG_S))
        (busy, requests), (more_busy, more_requests) = (paced(build, folder, 4, n) for n in (SHORT_S, LONG_S))
        nothing = more_idle - idle
        print(json.dumps({'bench': 'instructions', 'of': 'a claim, 4 workers at 200/s',
                          'server': round((more_busy - busy - nothing) / (more_requests - requests)),
                          'idle_server_per_second': round(nothing / (LONG_S - SHORT_S))}), flush=True)


if __name__ == '__main__':
    main()
