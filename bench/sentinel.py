#!/usr/bin/env python3
"""
Failovers behind Sentinels: how long after the promotion work goes on. Workers run jobs at a rate; a primary is demoted by
order and killed in turn. A JSON line for each failover and one for all; FAILOVERS sets how many (20), WORKERS how many
workers (4).
"""

import json
import os
import pathlib
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / 'tests'), str(SOURCE / 'tests' / 'cli')]
from command import Place  # noqa: E402  pylint: disable=wrong-import-position
from sentinels import watched  # noqa: E402  pylint: disable=wrong-import-position

FAILOVERS = int(os.environ.get('FAILOVERS') or 20)
WORKERS = int(os.environ.get('WORKERS') or 4)
OPTIONS = os.environ.get('OPTIONS', '')  # of the URL, such as ?replicas=1


def started_after(here, at_us):
    """The first start of each worker after an instant; None for those that have none yet."""
    found = []
    for number in range(WORKERS):
        starts = [record['start_us'] for record in here.records(f'log{number}', 'start')]
        found.append(min((start for start in starts if start > at_us), default=None))
    return found


def promoted(fleet, before):
    """Waits for another primary, as it says itself; returns when it was one."""
    others = [server for server in fleet.servers if server is not before and server.process.poll() is None]
    fleet.wait(lambda: any(server.say('role').startswith('master') for server in others), 'nobody is promoted')
    return time.time_ns() // 1000


def main():
    with tempfile.TemporaryDirectory() as folder:
        here = Place(folder)
        with watched(here.path) as fleet:
            jobs = here.write('jobs', ''.join(f'{line}\n' for line in range(1000000)))
            for number in range(WORKERS):
                here.start('map', '-s', fleet.url + OPTIONS, 'mail', '--rate', '40/s', '-i', jobs, '--quiet', '--log',
                           f'{folder}/log{number}', '--', 'true')
            fleet.wait(lambda: all((here.path / f'log{number}').exists() for number in range(WORKERS)), 'no work')
            took = []
            for number in range(FAILOVERS):
                fleet.wait(lambda: fleet.replicas_follow(2), 'the replicas never follow')
                before, kill = fleet.primary(), number % 2 == 1
                begun_us = time.time_ns() // 1000
                if kill:
                    fleet.kill_primary()
                else:
                    fleet.wait(lambda: fleet.sentinels[0].say('sentinel', 'failover', 'main') == 'OK', 'no failover begins')
                at_us = promoted(fleet, before)
                fleet.wait(lambda: None not in started_after(here, at_us), 'work does not go on')  # pylint: disable=cell-var-from-loop
                took.append((max(started_after(here, at_us)) - at_us) / 1e6)
                print(json.dumps({'failover': 'kill' if kill else 'order', 'promoted_after_s': (at_us - begun_us) / 1e6,
                                  'last_worker_goes_on_after_s': took[-1]}), flush=True)
                if kill:
                    before.start()
            print(json.dumps({'failovers': len(took), 'workers': WORKERS, 'median_s': sorted(took)[len(took) // 2],
                              'longest_s': max(took)}))
        here.stop_all()


if __name__ == '__main__':
    main()
