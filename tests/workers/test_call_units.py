#!/usr/bin/env python3
"""
takt-call against a vendor that meters requests, tokens and calls at once, with 8 workers and calls of mixed sizes: it
refuses none. Where what calls use is known only afterwards, no period has more than the quota and what was under way.
The policies and jobs of docs/vendors.md do what the page says.
"""

import contextlib
import json
import pathlib
import re
import sys

from metered import LARGEST, jobs, metered, policy
from program import SOURCE, end, results, tap, told, work_place
from vendor import answer_of, vendor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis_server  # noqa: E402

WORKERS, AT_ONCE, PERIOD = 8, 20, 1
REQUESTS, TOKENS = 500, 400000


@contextlib.contextmanager
def stores(here):
    with redis_server.server(here.path) as redis:
        yield {'redis': redis.url, 'file': f'file:{here.path / "units.db"}'}


def work(here, store, of_workers):
    """All workers to their end: the results, and their output."""
    started = []
    for worker, its_jobs in enumerate(of_workers):
        here.write(f'jobs{worker}', ''.join(json.dumps(job) + '\n' for job in its_jobs))
        (here.path / f'jobs{worker}.state').unlink(missing_ok=True)
        started.append(here.begin('takt-call', '-s', store, '-i', f'jobs{worker}', '--results', f'results{worker}',
                                  '--log', 'none', '--hosts', '127.0.0.1', '--parallel', '5'))
    ends = [end(process) for process in started]
    done = [json.loads(line) for worker in range(WORKERS) for line in here.read(f'results{worker}').splitlines()]
    for worker in range(WORKERS):
        (here.path / f'results{worker}').unlink()
    return {int(result['id']): result['attempt'] for result in done}, ends


def is_refused_nothing(report, here, name, store):
    """
    The vendor counts a call some time after its slot. So one period can have the calls that were under way at its begin
    besides those that started in it: at most the calls that run at once.
    """
    here.write('takt.yaml', policy(REQUESTS, TOKENS, PERIOD, AT_ONCE))
    with metered(REQUESTS + AT_ONCE, TOKENS + AT_ONCE * LARGEST, PERIOD, AT_ONCE) as vendor:
        done, ends = work(here, store, jobs(vendor.url, 1000, WORKERS))
        report.check(sorted(done) == list(range(1000)) and set(done.values()) == {1}, f'{name}: all calls are made', ends)
        report.check(vendor.refused == [], 'and none is refused', vendor.refused[:5])


def settles(report, here, name, store):
    """Estimates that are wrong by a factor of 0.2 to 3."""
    here.write('takt.yaml', policy(REQUESTS, TOKENS, PERIOD, AT_ONCE, '    settle: openai\n'))
    with metered(REQUESTS, TOKENS, PERIOD, AT_ONCE, watches=True) as vendor:
        done, ends = work(here, store, jobs(vendor.url, 1000, WORKERS, (0.2, 3)))
        report.check(len(done) == 1000 and not any('not settled' in one for end_of in ends for one in end_of[1:]),
                     f'{name}: all calls are settled', ends)
        report.check(vendor.most_over <= 0 and vendor.most_at_once <= AT_ONCE,
                     'no period is over the quota by more than what was under way',
                     (vendor.most_over, vendor.highest, vendor.most_at_once))


def page_jobs(page, url):
    """The jobs that the page shows, for a vendor on this host."""
    found, decoder = [], json.JSONDecoder()
    for block in re.findall(r'^```json\n(.*?)^```$', page, re.S | re.M):
        while block.strip():
            job, end_of_it = decoder.raw_decode(block)
            block = block[end_of_it:].lstrip()
            found.append({**job, 'url': re.sub(r'^https://[^/]*', url, job['url'])})
    return found


def is_as_the_page_says(report, here):
    page = (SOURCE / 'docs' / 'vendors.md').read_text(encoding='utf-8')
    here.write('takt.yaml', 'limits:\n' + ''.join(re.findall(r'^```yaml\nlimits:\n(.*?)^```$', page, re.S | re.M)))
    with vendor() as peer:
        peer.reply = {
            '/v1/chat/completions': answer_of(200, b'{"usage": {"total_tokens": 830}}', [
                ('x-ratelimit-remaining-requests', '459'), ('x-ratelimit-reset-requests', '5s'),
                ('x-ratelimit-remaining-tokens', '149170'), ('x-ratelimit-reset-tokens', '6m0s')]),
            '/v3/mail/send': answer_of(202), '/admin/graphql.json': answer_of(
                200, b'{"extensions": {"cost": {"actualQueryCost": 12}}}'),
            '/admin/orders.json': answer_of(200, b'{}', [('X-Shopify-Shop-Api-Call-Limit', '32/40')])}
        asked = page_jobs(page, peer.url)
        done = here.work('takt-call', '--hosts', '127.0.0.1', '--log', 'none',
                         input=''.join(json.dumps(job) + '\n' for job in asked),
                         env={**here.environment, 'TAKT_SECRET_KEY': 'key'})
    report.check(len(asked) == 4 and set(results(done.stdout)) == {job['id'] for job in asked} and done.stderr == '',
                 'docs/vendors.md: its jobs are done', told(done))
    left = {(name, rule['unit']): rule['remaining'] for name in ('model', 'mail', 'shop', 'shop-graphql')
            for rule in here.peek(name if 'shop' not in name else f'{name}:acme.example.com')['rules']}
    # the shop's bucket of 40 refills meanwhile, by two a second
    report.check(left['model', 'requests'] == 459 and left['model', 'tokens'] == 149170
                 and 8 <= left['shop', 'requests'] < 39
                 and left['mail', 'recipients'] == 49950 and left['shop-graphql', 'points'] >= 988,
                 'and its limits stand as they should', left)


def main():
    report = tap.Report()
    for case in (is_refused_nothing, settles):
        with work_place() as here, stores(here) as urls:
            for name, store in urls.items():
                case(report, here, name, store)
    with work_place() as here:
        is_as_the_page_says(report, here)
    report.end()


if __name__ == '__main__':
    main()
