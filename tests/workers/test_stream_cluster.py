#!/usr/bin/env python3
"""Streams of jobs on a cluster: added, shown and worked off while the slot of the stream moves and its node fails over."""

import json

from program import end, work_place
from stream import KEY, Stream, ids, tap, told

from clusters import cluster

JOBS = [{'id': str(number), 'limit': 'fast', 'text': 'x', 'ms': 40} for number in range(200)]


def main():
    report = tap.Report()
    with work_place() as here, cluster(here.path) as nodes:
        here.environment['TAKT_STORE'] = nodes.url
        slot = nodes.slot_of(KEY)
        source = nodes.owner(slot)
        target = next(node for node in nodes.nodes[:3] if node is not source)
        jobs = Stream(here, source)
        jobs.add(JOBS)
        report.check(jobs.show()['length'] == len(JOBS), 'takt-jobs adds and shows', jobs.show())
        worker = jobs.begin('takt-print', '--until-empty', '--parallel', 8, results='out')
        jobs.until_results('out', 30)
        nodes.begin_move(slot, source, target)
        nodes.move_keys(slot, source, target)
        report.check(jobs.tool('show', '--json', 'q').returncode == 0, 'takt-jobs finds a stream whose slot is moving')
        seen = len(jobs.results('out'))
        jobs.until_results('out', min(seen + 20, len(JOBS)))
        nodes.end_move(slot, source, target)
        jobs.until_results('out', min(seen + 50, len(JOBS)))
        nodes.fail_over(target)
        status, _, messages = end(worker)
        report.check(status == 0, 'a worker goes on at the new nodes', messages[-2000:])
        found = ids(jobs.results('out'))
        report.check(set(found) == {job['id'] for job in JOBS}, 'and does all jobs', f'{len(found)} jobs')
        done = jobs.tool('show', '--json', 'q')
        report.check(done.returncode == 0 and json.loads(done.stdout)['waiting'] == 0, 'all were handed out', told(done))
    report.end()


if __name__ == '__main__':
    main()
