#!/usr/bin/env python3
"""
Failovers behind Sentinels: how long after the promotion work goes on, and how often a worker connects meanwhile, to
Sentinels and servers. Workers run jobs at a rate; a primary is demoted by order and killed in turn. A JSON line for each
failover and one for all, which says whether the bounds of docs/redis.md were kept; FAILOVERS sets how many (20), WORKERS
how many workers (4). It needs a C compiler.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / 'tests'), str(SOURCE / 'tests' / 'cli')]
from command import Place  # noqa: E402  pylint: disable=wrong-import-position
from sentinels import watched  # noqa: E402  pylint: disable=wrong-import-position

FAILOVERS = int(os.environ.get('FAILOVERS') or 20)
WORKERS = int(os.environ.get('WORKERS') or 4)
LONGEST_S = 5  # from the promotion until all workers go on
MOST = 2  # attempts of a worker in a second
OPTIONS = os.environ.get('OPTIONS', '')  # of the URL, such as ?replicas=1


# Preloaded into workers: notes each attempt to connect by TCP, "PROCESS MICROSECONDS", in the file $CONNECTS.
COUNTER = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    const char *path = getenv("CONNECTS");
    int file = address->sa_family == AF_INET && path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (file >= 0) {
        dprintf(file, "%d %lld\n", (int)getpid(), now.tv_sec * 1000000LL + now.tv_nsec / 1000);
        close(file);
    }
    return (int)syscall(SYS_connect, fd, address, size);
}
'''


def count_connects(here):
    """From now on the workers' attempts to connect are counted."""
    shim = str(here.path / 'counter.so')
    subprocess.run([*os.environ.get('CC', 'cc').split(), '-shared', '-fPIC', '-o', shim, here.write('counter.c', COUNTER)],
                   check=True)
    here.environment.update(LD_PRELOAD=shim, CONNECTS=str(here.path / 'connects'))


def most_in_a_second(here):
    """The most attempts of one worker in any second that begins with one, and all attempts."""
    attempts = {}
    for line in here.read('connects').splitlines():
        process, at_us = map(int, line.split())
        attempts.setdefault(process, []).append(at_us)
    counts = [sum(first <= other < first + 1000000 for other in found) for found in attempts.values() for first in found]
    return max(counts), len(counts)


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
            count_connects(here)
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
            most, all_of_them = most_in_a_second(here)
            print(json.dumps({'failovers': len(took), 'workers': WORKERS, 'median_s': sorted(took)[len(took) // 2],
                              'longest_s': max(took), 'connects': all_of_them, 'most_of_a_worker_in_a_second': most,
                              'longest_is_within_bound': max(took) <= LONGEST_S, 'most_is_within_bound': most <= MOST}))
        here.stop_all()


if __name__ == '__main__':
    main()
