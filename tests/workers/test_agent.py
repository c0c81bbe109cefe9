#!/usr/bin/env python3
"""
takt-mail and takt-call through the agent of their host, with a real mail server and a real vendor: mails keep to their
slots after a block, a 429 blocks the whole fleet, and real costs are corrected. `takt` looks at the agent's store.
"""

import contextlib
import json

from leading_clock import LeadingClock
from mail_place import mail, mails_of, serve
from program import BUILD, end, ends, results, tap, told, until, work_place
from vendor import answer_of, vendor

MAILS, RATE = 30, 100
POLICY = f'''limits:
  - {{name: smtp, rules: [{{rate: {RATE}/s}}]}}
  - {{name: vendor, rules: [{{rate: 1000/s}}]}}
  - {{name: model, rules: [{{rate: 1/day, burst: 9000, counts: tokens}}]}}
'''


def agent_of(here):
    """An agent that serves: its process, and its URL as a store."""
    path = here.path / 'agent.sock'
    process = here.begin(BUILD / 'agent/takt-agent', '--listen', path)
    until(process.stderr.fileno(), b'serving')
    return process, f'agent:{path}'


def until_blocked(here, limit):
    """The standing of a limit, as soon as it is blocked."""
    ends.until(lambda: here.peek(limit)['blocked_until_us'], f'{limit} is never blocked')
    return here.peek(limit)


def mails(report, here, store):
    clock = LeadingClock()
    with serve(here) as post:
        here.takt('block', 'smtp', '1h')
        workers = []
        for worker in range(2):
            jobs = here.jobs(f'mails{worker}', [mail(f'm{n}', f'u{n}@example.org') for n in range(worker, MAILS, 2)])
            workers.append(here.begin('takt-mail', '-s', store, '-i', jobs, '--smtp', post.url, '--results',
                                      f'sent{worker}', '--log', 'none'))
        here.until_waiting('smtp', MAILS)
        report.check(mails_of(post) == [], 'mails of a limit that is blocked wait')
        since = clock.now()
        here.takt('unblock', 'smtp')
        ends = [end(worker) for worker in workers]
        report.check([status for status, _, _ in ends] == [0, 0] and
                     sorted(mails_of(post)) == sorted(f'u{n}@example.org' for n in range(MAILS)),
                     'then each is sent once', ends)
        came = sorted(json.loads(line)['at'] for line in post.log.read_text(encoding='utf-8').splitlines())
    early = [at - since for n, at in enumerate(came) if at < since + n / RATE]
    report.check(early == [], 'and none before its slot', early)


def calls(report, here, store):
    answers = iter([answer_of(429, b'too fast', [('Retry-After', '3600')])])
    with vendor() as peer:
        peer.reply['/call'] = lambda request: next(answers, answer_of(200, b'{}'))
        here.jobs('calls', [{'id': str(n), 'limit': 'vendor', 'url': peer.url + '/call'} for n in range(20)])
        worker = here.begin('takt-call', '-s', store, '-i', 'calls', '--hosts', '127.0.0.1', '--parallel', '1',
                            '--results', 'called', '--log', 'none')
        seen = until_blocked(here, 'vendor')
        report.check(seen['blocked_until_us'] > seen['now_us'] + 3000 * 10**6 and len(peer.asked) == 1,
                     'a 429 blocks the fleet', seen)
        here.takt('unblock', 'vendor')
        here.until_lines('called', 19)
        worker.terminate()  # the refused call is due in an hour
        status, _, messages = end(worker)
        called = results(here.read('called'))
        report.check(status == 0 and len(called) == 19 and len(peer.asked) == 20,
                     'after an unblock the other calls are made', (status, len(peer.asked), messages))


def real_costs(report, here, store):
    with vendor() as peer:
        peer.reply['/model'] = answer_of(200, b'{"usage": {"total_tokens": 70}}')
        here.jobs('costly', [{'id': str(n), 'limit': 'model', 'url': peer.url + '/model', 'cost': {'tokens': 600},
                              'settle': '/usage/total_tokens'} for n in range(3)])
        done = here.work('takt-call', '-s', store, '-i', 'costly', '--hosts', '127.0.0.1', '--parallel', '1')
    left = here.peek('model')['remaining']
    report.check(done.returncode == 0 and left == 9000 - 3 * 70, 'a call returns what it did not use', told(done))


def main():
    report = tap.Report()
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(work_place())
        here.write('takt.yaml', POLICY)
        agent, store = agent_of(here)
        mails(report, here, store)
        calls(report, here, store)
        real_costs(report, here, store)
        agent.terminate()
        report.check(end(agent)[0] == 0, 'the agent holds nothing and ends')
    report.end()


main()
