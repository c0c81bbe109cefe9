#!/usr/bin/env python3
"""
Limits within others, as docs/mail.md has them, over a real Redis and over files: a domain's limit within that of a mail
server, which is blocked in mid-run; and work that gives up while it waits for the outer limit.

The mail server judges without any allowance: the n-th mail after an unblock does not come before its slot can be due,
of the domain and of all (see test_mail_fleet.py). Mails that had their slots before the block may come sooner, so the
test unblocks when all mails but those that have arrived wait again. There are more mails than the test waits for, so
that none of its steps is late on a busy machine.
"""

import collections
import contextlib
import json

from leading_clock import LeadingClock
from mail_place import mail, mails_of, serve
from program import end, ends, tap, told, work_place
from redis_server import server as redis_server

DOMAIN, OTHERS, WORKERS = 200, 300, 2  # each worker holds all of its mails in memory
DOMAIN_RATE, RATE = 10, 100
SOME = 10  # mails of the domain, before the block and after it
POLICY = f'''limits:
  - {{name: domain, rules: [{{rate: {DOMAIN_RATE}/s}}], within: smtp}}
  - {{name: smtp, rules: [{{rate: {RATE}/s}}]}}
  - {{name: account, rules: [{{rate: 800/day, burst: 800}}], within: vendor}}
  - {{name: vendor, rules: [{{rate: 1/s}}]}}
'''


def arrivals(post):
    """When each mail came, those of the domain first."""
    whole = post.log.read_text(encoding='utf-8').rpartition('\n')[0]  # the last line may be under way
    records = [json.loads(line) for line in whole.splitlines()]
    return [sorted(record['at'] for record in records if record['to'][0].endswith('@slow.example') == is_domain)
            for is_domain in (True, False)]


def until_arrived(here, post, count):
    """Until the domain has so many mails."""
    ends.until(lambda: len(arrivals(post)[0]) >= count, lambda: here.read('err0'))


def until_the_rest_waits(here, post):
    """Until each mail has arrived or waits, and none is under way."""
    ends.until(lambda: sum(map(len, arrivals(post))) + here.peek('smtp')['waiting'] == DOMAIN + OTHERS,  # in this order
               lambda: here.read('err0'))


def too_early(times, since, until, rate):
    """The first arrival between two instants that came before its slot could have been due; None: there is none."""
    for number, at in enumerate(sorted(at for at in times if since <= at < until)):
        if at < since + number / rate:
            return f'mail {number + 1} came {at - since:.6f} s after the unblock'
    return None


def begin(here, post):
    """All mails wait for a limit that is blocked; each worker has its part of both kinds."""
    others = [mail(f'o{number}', f'u{number}@example.org') for number in range(OTHERS)]
    domain = [{**mail(f'd{number}', f'u{number}@slow.example'), 'limit': 'domain', 'key': '{domain}'}
              for number in range(DOMAIN)]
    here.takt('block', 'smtp', '1h')
    workers = []
    for worker in range(WORKERS):
        jobs = here.jobs(f'jobs{worker}', others[worker::WORKERS] + domain[worker::WORKERS])
        with open(here.path / f'err{worker}', 'wb') as err:
            workers.append(here.begin('takt-mail', '-i', jobs, '--smtp', post.url, '--results', f'results{worker}',
                                      stdout=err, stderr=err))
    here.until_waiting('smtp', DOMAIN + OTHERS)
    return workers


def has_its_pace_after_a_block(report, here, store):
    clock = LeadingClock()
    with serve(here) as post:
        workers = begin(here, post)
        unblocked = [clock.now()]
        here.takt('unblock', 'smtp')
        until_arrived(here, post, SOME)
        here.takt('block', 'smtp', '1h')
        until_the_rest_waits(here, post)
        before = len(arrivals(post)[0])
        unblocked += [clock.now(), float('inf')]
        here.takt('unblock', 'smtp')
        until_arrived(here, post, before + SOME)
        for worker in workers:
            worker.terminate()
            assert end(worker)[0] == 0, here.read('err0')
        domain, others = arrivals(post)
        counts = collections.Counter(mails_of(post))
    report.check(set(counts.values()) == {1}, f'{store}: before and after a block mails come once',
                 counts.most_common(3))
    early = [[too_early(times, since, until, rate) for since, until in zip(unblocked, unblocked[1:])]
             for times, rate in ((domain, DOMAIN_RATE), (domain + others, RATE))]
    report.check(early[0] == [None, None], 'none of the domain before its slot', early[0])
    report.check(early[1] == [None, None], 'and none at all', early[1])


def gives_up_without_loss(report, here, store):
    """100 jobs have two or three seconds each for an outer limit of 1/s."""
    late = here.instant(3)
    here.jobs('jobs', [{'id': str(number), 'limit': 'account', 'key': 'a', 'text': 'x', 'deadline': late}
                       for number in range(100)])
    done = here.work('takt-print', '-i', 'jobs', '--results', 'results', '--log', 'none')
    started = here.read('results').count('\n')
    report.check(started <= 4, f'{store}: most jobs give up', told(done))
    left = here.peek('account:a')['remaining']
    # slots in hand that pass while the machine is busy are not given back: there are four
    report.check(800 - 4 <= left <= 800 - started, 'and have taken nothing of the inner limit',
                 f'{left}, {started} started')


def main():
    report = tap.Report()
    for case in (has_its_pace_after_a_block, gives_up_without_loss):
        for store in ('redis', 'file'):
            with contextlib.ExitStack() as stack:
                here = stack.enter_context(work_place())
                if store == 'redis':
                    here.environment['TAKT_STORE'] = stack.enter_context(redis_server(here.path)).url
                here.write('takt.yaml', POLICY)
                case(report, here, store)
    report.end()


if __name__ == '__main__':
    main()
