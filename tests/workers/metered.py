"""
A vendor that meters a language model: requests and tokens over exact sliding windows, and calls at once. It is an HTTP
service in a thread, which judges by its own log of arrivals and knows nothing of takt. A fleet of takt-call workers
calls it; `bench/metered.py` measures the same.
"""

import asyncio
import collections
import json
import math
import random

from leading_clock import LeadingClock
from vendor import Request, Server, answer_of, until_stopped

SMALLEST, LARGEST = 50, 8000


class Connection(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self, metered):
        self.metered = metered
        self.got = b''
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data
        head, separator, rest = self.got.partition(b'\r\n\r\n')
        request = Request(head, rest) if separator else None
        if request is not None and len(rest) >= int((request.header('content-length') or ['0'])[0]):
            self.got = b''
            self.metered.begin(json.loads(rest), self.transport.write)


class Metered(Server):
    """
    At most `requests` and `tokens` in any `period` seconds, and `at_once` calls at a time; what exceeds one of them is
    refused, unless it `watches` only. A call takes `takes` seconds, and states its tokens in its answer. With `outputs`
    it also meters how many of a call's tokens are of its output.
    """

    def __init__(self, requests, tokens, period, at_once, takes=(0.005, 0.045), watches=False, outputs=None):
        self.outputs, self.put_out = outputs, 0
        self.requests, self.tokens, self.period, self.at_once = requests, tokens, period, at_once
        self.takes, self.watches = takes, watches
        self.clock, self.chance = LeadingClock(), random.Random(1)
        self.window = collections.deque()  # of each call: arrival, tokens, tokens under way then
        self.taken = self.running = self.under_way = 0
        self.most_at_once = 0
        self.most_over = -math.inf  # tokens beyond the quota and what was under way in the window, at worst
        self.highest = 0  # tokens of a window
        self.log, self.refused = [], []
        self.start(lambda: Connection(self), backlog=1000)
        self.url = f'http://127.0.0.1:{self.port}/call'

    def begin(self, call, write):
        now, tokens = self.clock.now(), call['tokens']
        outputs = call.get('outputs', 0)
        while self.window and now - self.window[0][0] >= self.period:
            gone = self.window.popleft()
            self.taken -= gone[1]
            self.put_out -= gone[3]
        exceeded = [name for name, over in (('at once', self.running >= self.at_once),
                                            ('requests', len(self.window) >= self.requests),
                                            ('tokens', self.taken + tokens > self.tokens),
                                            ('outputs', self.outputs and
                                             self.put_out + outputs > self.outputs)) if over]
        if exceeded and not self.watches:
            self.refused.append(exceeded)
            write(answer_of(429, json.dumps(exceeded).encode(), [('Retry-After', '1')]))
            return
        self.running += 1
        self.under_way += tokens
        self.taken += tokens
        self.put_out += outputs
        self.window.append((now, tokens, self.under_way, outputs))
        self.log.append((now, tokens))
        self.most_at_once = max(self.most_at_once, self.running)
        if self.watches:
            self.highest = max(self.highest, self.taken)
            over = self.taken - self.tokens
            if over > 0:
                self.most_over = max(self.most_over, over - max(under_way for _, _, under_way, _ in self.window))
        self.loop.call_later(self.chance.uniform(*self.takes), self.end, tokens, outputs, write)

    def end(self, tokens, outputs, write):
        self.running -= 1
        self.under_way -= tokens
        write(answer_of(200, json.dumps({'usage': {'total_tokens': tokens, 'completion_tokens': outputs}}).encode(),
                        [('Content-Type', 'application/json')]))

    def used(self):
        """
        How much of the tokens that the quota allows was used: in whole periods from the first call on, up to the last
        one in which there was work for all of it.
        """
        first = self.log[0][0]
        periods = int((self.log[-1][0] - first) / self.period)
        tokens = sum(tokens for at, tokens in self.log if at < first + periods * self.period)
        return tokens / (periods * self.tokens) if periods else None


def metered(*arguments, **options):
    return until_stopped(Metered(*arguments, **options))


def policy(requests, tokens, period, at_once, more='', outputs=None):
    """The vendor's numbers as a limit."""
    rule = f'      - {{rate: {outputs}/{period}s, counts: output_tokens, algorithm: sliding-log}}\n' if outputs else ''
    return f"""limits:
  - name: model
    rules:
      - {{rate: {requests}/{period}s, counts: requests, algorithm: sliding-log}}
      - {{rate: {tokens}/{period}s, counts: tokens, algorithm: sliding-log}}
{rule}    concurrency: {at_once}
{more}"""


def between(chance, least, most):
    """At random, each order of magnitude as often as another."""
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def jobs(url, calls, workers, wrong=(1, 1), outputs=False):
    """
    The jobs of each worker: calls of 50 to 8,000 tokens, of which a job knows an estimate that is wrong by a factor.
    With `outputs` they also state how many of these are of the output, a hundredth to all.
    """
    chance = random.Random(18)
    of_workers = [[] for _ in range(workers)]
    for number in range(calls):
        estimate = int(between(chance, SMALLEST, LARGEST))
        tokens = max(1, round(estimate * between(chance, *wrong)))
        cost, body = {'tokens': estimate}, {'tokens': tokens}
        if outputs:
            cost['output_tokens'] = max(1, int(estimate * between(chance, 0.01, 1)))
            body['outputs'] = max(1, round(cost['output_tokens'] * tokens / estimate))
        of_workers[number % workers].append({'id': str(number), 'limit': 'model', 'cost': cost,
                                             'method': 'POST', 'url': url, 'json': body})
    return of_workers


__all__ = ['LARGEST', 'Metered', 'jobs', 'metered', 'policy']
