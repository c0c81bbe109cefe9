#!/usr/bin/env python3
"""
Streams of jobs behind Sentinels: added, shown and worked off while the primary moves. Commands that the old primary
received after the new one had left it, such as the end of jobs, may be lost: then these jobs are handed out again.
"""

import json

from program import end, work_place
from stream import Stream, ids, tap, told

from sentinels import watched

JOBS = [{'id': str(number), 'limit': 'fast', 'text': 'x', 'ms': 40} for number in range(300)]


def main():
    report = tap.Report()
    with work_place() as here, watched(here.path) as fleet:
        here.environment['TAKT_STORE'] = fleet.url
        jobs = Stream(here, fleet.servers[0])
        jobs.add(JOBS)
        report.check(jobs.show()['length'] == len(JOBS), 'takt-jobs adds and shows', jobs.show())
        fleet.wait(lambda: fleet.replicas_follow(2), 'the replicas never follow')
        fleet.servers[0].say('wait', '2', '0')
        worker = jobs.begin('takt-print', '--until-empty', '--parallel', 8, results='out')
        jobs.until_results('out', 50)
        fleet.fail_over()
        status, _, messages = end(worker)
        report.check(status == 0, 'a worker goes on at the new primary', messages[-2000:])
        found = set(ids(jobs.results('out')))
        report.check(found == {job['id'] for job in JOBS}, 'and does all jobs', f'{len(found)} jobs')
        done = jobs.tool('show', '--json', 'q')
        report.check(done.returncode == 0 and json.loads(done.stdout)['waiting'] == 0, 'all were handed out', told(done))
    report.end()


if __name__ == '__main__':
    main()
