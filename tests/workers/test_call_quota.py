#!/usr/bin/env python3
"""
takt-call against a vendor that enforces a quota by itself, with 16 workers over one Redis: with the vendor's numbers it
is never refused; with numbers that are twice too high it settles; with numbers that are too high it learns.
"""

import json
import pathlib
import subprocess
import sys

from program import end, ends, tap, until, work_place
from vendor import answer_of, vendor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis_server  # noqa: E402

WORKERS = 16
LIMIT = 'limits:\n  - name: vendor\n'


def work(here, store, url, calls, *options):
    """All workers to their end, each with its part of the calls: how many were done, and their output."""
    started = []
    for worker in range(WORKERS):
        jobs = ''.join(json.dumps({'id': f'{n}', 'limit': 'vendor', 'url': url}) + '\n' for n in range(worker, calls,
                                                                                                       WORKERS))
        here.write(f'jobs{worker}', jobs)
        started.append(here.begin('takt-call', '-s', store, '-i', f'jobs{worker}', '--results', f'results{worker}',
                                  '--log', 'none', '--hosts', '127.0.0.1',
                                  *options))
    ends = [end(process) for process in started]
    done = [json.loads(line)['id'] for worker in range(WORKERS) for line in here.read(f'results{worker}').splitlines()]
    return sorted(map(int, done)), ends


def keeps_to_the_quota(report, here):
    """
    A slot is a start; the vendor sees it later, by a while that varies. So in one period it can see what was on its
    way at the period's begin besides what was started in it: at most the calls that run at once, 16 * 3, which are
    within 2 %.
    """
    here.write('takt.yaml', LIMIT + '    rules: [{rate: 2600/3s, algorithm: sliding-log}]\n    headroom: 2%\n')
    with redis_server.server(here.path) as redis, vendor(limit=2600, period=3.0) as peer:
        done, ends = work(here, redis.url, peer.url + '/quota', 6000, '--parallel', '3')
        report.check(all(status == 0 for status, _, _ in ends) and done == list(range(6000)), '6,000 calls are made',
                     ends)
        report.check((peer.served, peer.refused) == (6000, 0), 'and not one is refused', (peer.served, peer.refused))


def settles(report, here):
    """A machine that is too busy to be too fast is refused once none the less: the first call is."""
    here.write('takt.yaml', LIMIT + '    rules: [{rate: 1000/s}]\n    adapt: {backoff: 40%}\n')
    with redis_server.server(here.path) as redis, vendor(limit=1000, period=2.0, used_up=True) as peer:
        done, ends = work(here, redis.url, peer.url + '/quota', 5000, '--parallel', '2')
        report.check(done == list(range(5000)), 'twice too fast: all calls are made', ends)
        report.check(0 < peer.refused < 0.02 * (peer.served + peer.refused), 'and less than 2 % are refused',
                     (peer.served, peer.refused))


def standing(here):
    return json.loads(here.takt('peek', 'vendor', '--json').stdout)


def hear(here, fields, left, is_heard=None):
    """
    A call whose answer has these fields; how the limit stands when the worker has ended. The worker runs until so much
    is `left`, or until what is looked at `is_heard`.
    """
    with vendor() as peer:
        peer.reply = {'/left': answer_of(200, b'', fields)}
        worker = here.begin('takt-call', '-l', 'vendor', '--log', 'none', '--hosts', '127.0.0.1',
                            stdin=subprocess.PIPE)
        worker.stdin.write(json.dumps({'id': 'a', 'url': peer.url + '/left'}).encode() + b'\n')
        worker.stdin.flush()
        until(worker.stdout.fileno(), b'\n')
        is_heard = is_heard or (lambda looked: looked['remaining'] == left)
        ends.until(lambda: is_heard(standing(here)), lambda: f'never heard, but {standing(here)}')
        end(worker)
    return standing(here)


def learns(report, here):
    """A vendor that has less left in the hour than the policy says."""
    here.write('takt.yaml',
               LIMIT + '    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use}]\n    learn: headers\n')
    for fields, left in (((('X-RateLimit-Remaining', '100'), ('X-RateLimit-Reset', '3600')), 100),
                         ((('RateLimit', '"hour";r=70;t=3600, "day";r=400;t=80000'),), 70),
                         ((('RateLimit', 'limit=100, remaining=900, reset=3600'),), 69),
                         ((('X-RateLimit-Remaining', '1'), ('X-RateLimit-Reset', '1')), 68),
                         ((('RateLimit-Remaining', '0'), ('RateLimit-Reset', '1800')), 0)):
        looked = hear(here, fields, left)
        report.check(looked['remaining'] == left, f'{fields}: {left} are left', looked)
    report.check(1700e6 < looked['retry_after_us'] <= 1800e6 and 'nothing is left' in looked['reason'],
                 'nothing is left: until the vendor has more', looked)
    here.takt('unblock', 'vendor')
    here.takt('reset', 'vendor')
    here.write('takt.yaml', here.read('takt.yaml').replace('headers', 'off'))
    looked = hear(here, [('X-RateLimit-Remaining', '100')], 999)
    report.check(looked['remaining'] == 999, 'nothing is learnt where the policy does not say so', looked)


def rules_of(looked):
    return {rule['unit']: rule['remaining'] for rule in looked['rules']}


def learns_by_unit(report, here):
    """A vendor that states the remaining amount of each unit, in header fields of its own."""
    rule = 'rate: {}/h, algorithm: fixed-window, align: first-use'
    rules = f"""    rules: [{{{rule.format(1000)}, counts: requests}},
            {{{rule.format(50000)}, counts: tokens, default_amount: 100}}]
"""
    stamp = [('Date', 'Fri, 21 Nov 2025 02:40:00 GMT')]
    for learn, fields, left in (
            ('openai', [('x-ratelimit-remaining-requests', '59'), ('x-ratelimit-remaining-tokens', '4998'),
                        ('x-ratelimit-reset-requests', '12s'), ('x-ratelimit-reset-tokens', '6m0s')], (59, 4998)),
            ('openai', [('x-ratelimit-remaining-tokens', '0'), ('x-ratelimit-reset-tokens', '6m0s')], (999, 0)),
            ('anthropic', [('anthropic-ratelimit-tokens-remaining', '4000'),
                           ('anthropic-ratelimit-tokens-reset', '2025-11-21T02:41:00Z'), *stamp], (999, 4000)),
            ('github', [('x-ratelimit-remaining', '499'), ('x-ratelimit-reset', '1763696400'), *stamp], (499, 49900)),
            ('shopify', [('X-Shopify-Shop-Api-Call-Limit', '32/40')], (8, 49900)),
            ('discord', [('X-RateLimit-Remaining', '4'), ('X-RateLimit-Reset-After', '4.815')], (4, 49900)),
            ('{remaining: X-Left, reset: X-Until, unit: tokens}', [('X-Left', '700'), ('X-Until', '60000ms')],
             (999, 700))):
        here.write('takt.yaml', f'{LIMIT}{rules}    learn: {learn}\n')
        here.takt('reset', 'vendor')
        looked = hear(here, fields, None, lambda looked, left=left: tuple(rules_of(looked).values()) == left)
        report.check(tuple(rules_of(looked).values()) == left and looked['blocked_until_us'] == 0,
                     f'{learn}: {left} are left', looked)
    here.write('takt.yaml', f'{LIMIT}{rules}    learn: {{remaining: X-Left, reset: X-Until, unit: tokens}}\n')
    here.takt('reset', 'vendor')
    looked = hear(here, [('X-Left', '0'), ('X-Until', '1800')], None, lambda looked: looked['blocked_until_us'] > 0)
    report.check(1700e6 < looked['retry_after_us'] <= 1800e6 and 'nothing is left' in looked['reason'],
                 'of a quota that comes back at once nothing is left: until then', looked)


def main():
    report = tap.Report()
    for case in (keeps_to_the_quota, settles, learns, learns_by_unit):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
