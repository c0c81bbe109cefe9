#!/usr/bin/env python3
"""
A fleet of takt-mail: 2,500 mails, 4 workers, one stream and one quota of 500/s in a real Redis, and a real mail server.

What is checked of the quota is what can be seen from the server without any allowance: that the n-th mail did not come
before its slot could have been due. All workers wait while their limit is blocked; with `unblock` at the instant b the
limit gives its n-th slot at b + (n - burst) / rate at the earliest, and a mail comes after its slot. So the n-th
arrival, counted from 1, is not before that. How far behind its slot a mail comes is the network's and the machine's affair, and
so is how many that came late come together; that the slots themselves keep to the quota in every stretch of time is
what tests/fleet checks, to the microsecond.
"""

import collections
import json

from leading_clock import LeadingClock
from mail_place import mail, mails_of, policy, serve
from program import end, ends, tap, told, work_place
from redis_server import server as redis_server

MAILS = 2500
MAILS_OF_KILLED = 1000
WORKERS = 4
RATE = 500
BURST = 1


def add_jobs(here, redis, count):
    here.jobs('jobs', [mail(str(n), f'u{n}@example.org') for n in range(count)])
    done = here.work('takt-jobs', 'add', 'mails', '-i', 'jobs', '-s', redis.url)
    assert done.returncode == 0, told(done)


def begin(here, post, name, *options):
    """A worker; its results and its log go to files."""
    with open(here.path / f'{name}.out', 'wb') as out, open(here.path / f'{name}.err', 'wb') as err:
        return here.begin('takt-mail', '--stream', 'mails', '--until-empty', '--smtp', post.url, *options, stdout=out,
                          stderr=err)


def all_told(here):
    return ''.join(f'{path.name}: {path.read_text(encoding="utf-8")[-600:]}\n'
                   for path in sorted(here.path.glob('*.err')))


def too_early(arrivals, unblocked_at):
    """The first mail that came before its slot could have been due; None: there is none."""
    for number, at in enumerate(sorted(arrivals), 1):
        if at < unblocked_at + (number - BURST) / RATE:
            return f'mail {number} came {at - unblocked_at:.6f} s after the unblock'
    return None


def line_up(here, post, *options):
    """
    All workers, while the limit is blocked: each takes some of the jobs, so that the last one to start finds some.
    """
    here.takt('block', 'smtp', '1h')
    workers = [begin(here, post, f'worker{number}', '--waiting', 100, '--put-away', 100, *options)
               for number in range(WORKERS)]
    ends.until(lambda: here.peek('smtp')['workers'] == WORKERS, lambda: all_told(here))
    return workers


def keeps_the_quota(report, here, redis, post):
    policy(here, f'{{rate: {RATE}/s, burst: {BURST}}}')
    add_jobs(here, redis, MAILS)
    workers = line_up(here, post)
    unblocked_at = LeadingClock().now()
    here.takt('unblock', 'smtp')
    statuses = [end(worker)[0] for worker in workers]
    records = [json.loads(line) for line in post.log.read_text(encoding='utf-8').splitlines()]
    counts = collections.Counter(record['to'][0] for record in records)
    report.check(statuses == [0] * WORKERS, f'{WORKERS} workers send {MAILS} mails', f'{statuses}\n{all_told(here)}')
    report.check(len(counts) == MAILS and set(counts.values()) == {1}, 'each of them once',
                 f'{len(counts)}, {[item for item in counts.items() if item[1] > 1][:10]}')
    early = too_early([record['at'] for record in records], unblocked_at)
    report.check(early is None, f'none before its slot at {RATE}/s', early)
    shares = [here.read(f'worker{number}.out').count('\n') for number in range(WORKERS)]
    report.check(sum(shares) == MAILS and min(shares) > 0, 'and all workers have their part', shares)


def loses_nothing(report, here, redis, post):
    """Two of four workers are killed in the middle of it, which takes a while."""
    policy(here, '{rate: 400/s, burst: 1}')
    add_jobs(here, redis, MAILS_OF_KILLED)
    workers = line_up(here, post, '--take-over-after', '2s')
    here.takt('unblock', 'smtp')
    here.until_lines('worker0.out', 50)
    workers[0].kill()
    here.until_lines('worker1.out', 100)
    workers[1].kill()
    statuses = [end(worker)[0] for worker in workers]
    counts = collections.Counter(mails_of(post))
    report.check(statuses == [-9, -9, 0, 0] and len(counts) == MAILS_OF_KILLED, 'when workers are killed no mail is lost',
                 f'{statuses} {len(counts)}\n{all_told(here)}')
    report.check(sum(counts.values()) - MAILS_OF_KILLED <= 2 * 256, 'and only what they had under way comes twice',
                 sum(counts.values()))


def main():
    report = tap.Report()
    for case in (keeps_the_quota, loses_nothing):
        with work_place() as here, redis_server(here.path) as redis, serve(here) as post:
            here.environment['TAKT_STORE'] = redis.url
            case(report, here, redis, post)
    report.end()


if __name__ == '__main__':
    main()
