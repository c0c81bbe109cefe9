#!/usr/bin/env python3
"""
Mails of one domain, whose limit is within that of the server (docs/mail.md), as the mail server sees them: two takt-mail
workers send 60 mails of one domain (5/s) and 240 others of the server's limit (50/s). The server is blocked for 8 s in
mid-run. A JSON line for each store.

    domains.py BUILD [redis|file]...

`busiest` is the most mails in any second, by arrival. `six_in_ms` is the shortest time in which six mails of the domain
came, and `fifty_one_in_ms` the same of all mails: 1000 and a network's delay less. `per_s_beside_others` is the rate of
the domain while others wait. `in_block` counts arrivals in the block, from 100 ms on.
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(sys.argv[1]).resolve()
os.environ.update(TAKT_BUILD=str(BUILD), TAKT_COMMAND=str(BUILD / 'cli/takt'))
sys.path[:0] = [str(SOURCE / 'tests'), str(SOURCE / 'tests' / 'workers')]
import redis_server  # noqa: E402
from mail_place import mail, serve  # noqa: E402
from program import end, told, work_place  # noqa: E402

DOMAIN, OTHERS, WORKERS = 60, 240, 2
DOMAIN_RATE, RATE = 5, 50
BEFORE_S, BLOCK_S, DELAY_S = 2.5, 8, 0.1
POLICY = f'''limits:
  - {{name: domain, rules: [{{rate: {DOMAIN_RATE}/s}}], within: smtp}}
  - {{name: smtp, rules: [{{rate: {RATE}/s}}]}}
'''


def busiest(arrivals):
    """The most arrivals in any second, at whatever instant it begins."""
    most = first = 0
    for last, at in enumerate(arrivals):
        while at - arrivals[first] >= 1:
            first += 1
        most = max(most, last - first + 1)
    return most


def shortest_ms(arrivals, count):
    """The shortest time from an arrival to the one that is the count-th with it."""
    return round(1000 * min(last - first for first, last in zip(arrivals, arrivals[count - 1:])), 1)


def write_jobs(here):
    """Each worker has its part of both kinds; the others come first in the file, as what arrived before."""
    others = [mail(f'o{number}', f'u{number}@example.org') for number in range(OTHERS)]
    domain = [{**mail(f'd{number}', f'u{number}@slow.example'), 'limit': 'domain', 'key': '{domain}'}
              for number in range(DOMAIN)]
    for worker in range(WORKERS):
        here.jobs(f'jobs{worker}', others[worker::WORKERS] + domain[worker::WORKERS])


def run(here, post):
    """All mails; when the block was there, and when it ended."""
    here.write('takt.yaml', POLICY)
    write_jobs(here)
    here.takt('block', 'smtp', '1h')  # until all wait
    workers = []
    for worker in range(WORKERS):
        with open(here.path / f'err{worker}', 'wb') as err:
            workers.append(here.begin('takt-mail', '-i', f'jobs{worker}', '--smtp', post.url, '--results',
                                      f'results{worker}', stdout=err, stderr=err))
    here.until_waiting('smtp', DOMAIN + OTHERS)
    here.takt('unblock', 'smtp')
    time.sleep(BEFORE_S)
    blocking = time.time()
    done = here.takt('block', 'smtp', f'{BLOCK_S}s')
    blocked = time.time()
    assert done.returncode == 0, told(done)
    for worker in workers:
        assert end(worker)[0] == 0, here.read('err0')
    return blocked, blocking + BLOCK_S


def measure(name, environment):
    with work_place() as here, serve(here) as post:
        here.environment.update(environment)
        blocked, unblocked = run(here, post)
        records = [json.loads(line) for line in post.log.read_text(encoding='utf-8').splitlines()]
    arrivals = sorted(record['at'] for record in records)
    domain = sorted(record['at'] for record in records if record['to'][0].endswith('@slow.example'))
    last_other = max(record['at'] for record in records if not record['to'][0].endswith('@slow.example'))
    assert len(arrivals) == DOMAIN + OTHERS and len(domain) == DOMAIN
    beside = [at for at in domain if at <= last_other]
    gaps = [after - before for before, after in zip(beside, beside[1:])]  # the longest is that of the block
    print(json.dumps({
        'bench': 'domains', 'store': name, 'workers': WORKERS, 'mails': DOMAIN + OTHERS, 'of_the_domain': DOMAIN,
        'domain_busiest': busiest(domain), 'six_in_ms': shortest_ms(domain, DOMAIN_RATE + 1),
        'smtp_busiest': busiest(arrivals), 'fifty_one_in_ms': shortest_ms(arrivals, RATE + 1),
        'per_s_beside_others': round((len(gaps) - 1) / (sum(gaps) - max(gaps)), 2),
        'smtp_per_s_beside_others': round(sum(at <= last_other for at in arrivals) /
                                          (last_other - arrivals[0] - (unblocked - blocked)), 2),
        'in_block': sum(blocked + DELAY_S <= at < unblocked for at in arrivals),
        'domain_first_second_after_block': sum(unblocked <= at < unblocked + 1 for at in domain),
        'smtp_first_second_after_block': sum(unblocked <= at < unblocked + 1 for at in arrivals)}), flush=True)


def main():
    for name in sys.argv[2:] or ['redis', 'file']:
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            environment = {}
            if name == 'redis':
                environment['TAKT_STORE'] = stack.enter_context(redis_server.server(folder)).url
            measure(name, environment)


if __name__ == '__main__':
    main()
