"""
What was aimed at, judged by the medians of one run, and by the worst run where something is never to happen: a list of
(goal, found, verdict).
"""

import math

from picture import number, words_of

PEERS = ('bottleneck', 'rate-limiter-flexible', 'bullmq', 'python3-limits', 'minimal script')  # that wait, over Redis
GO = ('x/time/rate', 'x/time/rate, one thread')
KEPT = 1.05  # of the quota in the busiest second: who starts more does another work
CALM_MS = 0.3  # what a process that only sleeps is off its beat, at most, where the machine is not disturbed
REACHED, MISSED = 'reached', '**missed**'


def figure(results, workload, tool, name, which='median', **case):
    for result in results.get(workload, []):
        if result['tool'] == tool and all(result['case'].get(key) == value for key, value in case.items()):
            found = result['figures'].get(name)
            return found[which] if found else None
    return None


class Judge:
    def __init__(self, results):
        self.results, self.told = results, []

    def cases(self, workload):
        seen = []
        for result in self.results.get(workload, []):
            if result['case'] not in seen:
                seen.append(result['case'])
        return seen

    def get(self, workload, tool, name, case, which='median'):
        return figure(self.results, workload, tool, name, which, **case)

    def best(self, workload, tools, name, case, choose):
        """The best value and whose it is; None where nobody has one."""
        found = [(value, tool) for tool in tools if (value := self.get(workload, tool, name, case)) is not None]
        return choose(found) if found else (None, None)

    def add(self, goal, value, reached, but=''):
        self.told.append((goal, value, REACHED if reached else MISSED + but))

    def times(self, goal, ours, theirs, least, whose=''):
        """Ours is to be so many times theirs; nothing is told where one of them is not known."""
        if ours is not None and theirs:
            self.add(goal, f'{number(ours / theirs)} times' + (f' ({whose})' if whose else ''), ours / theirs >= least)

    def at_most(self, goal, value, most, but=''):
        if value is not None:
            self.add(goal, number(value), value <= most, but)


def ceiling(it):
    for case in it.cases('ceiling'):
        ours, at = it.get('ceiling', 'takt', 'per_second', case), words_of(case)
        it.times(f'(A) 1,000 times Bottleneck, {at}', ours, it.get('ceiling', 'bottleneck', 'per_second', case), 1000)
        it.times(f'(A) 80 times the best over Redis that waits, {at}', ours,
                 *with_least(it.best('ceiling', PEERS, 'per_second', case, max), 80))
        it.times(f'(A) more than redis-benchmark, {at}', ours,
                 it.get('ceiling', 'redis-benchmark', 'per_second', case), 1)


def with_least(best, least):
    """The arguments of Judge.times for the best peer."""
    value, whose = best
    return value, least, whose


def disturbed(it, case):
    """What is said to a goal that was missed while nobody could have kept to a beat."""
    bare = it.get('pacing', 'takt', 'bare_gap_deviation_p99_ms', case)
    if bare is None or bare <= CALM_MS:
        return ''
    most = it.get('pacing', 'takt', 'bare_busiest_second', case, 'high')
    return '; the machine was disturbed: a process that only sleeps was off by ' \
           f'{number(bare)} ms, busiest second {number(most)}'


def pacing(it):
    for case in it.cases('pacing'):
        at, but = words_of(case), disturbed(it, case)
        it.at_most(f'(B) rate within 0.05 %, {at}', it.get('pacing', 'takt', 'rate_error', case), 0.0005, but)
        it.at_most(f'(B) busiest second never above quota + 1, {at}',
                   it.get('pacing', 'takt', 'busiest_second', case, 'high'), case['rate'] + 1, but)
        it.at_most(f'(B) the same by slots, {at}', it.get('pacing', 'takt', 'busiest_second_slots', case, 'high'),
                   case['rate'] + 1)
        it.at_most(f'(B) gaps within 0.3 ms (p99), {at}',
                   it.get('pacing', 'takt', 'gap_deviation_p99_ms', case), 0.3, but)
        if case['processes'] == 4:
            for name, least in (('requests_per_grant', 10), ('server_us_per_grant', 5)):
                against_peers(it, name, least, case)


def against_peers(it, name, least, case):
    """Once by the best of all, and once by the best of those that keep the quota."""
    ours, words = it.get('pacing', 'takt', name, case), f'(B) {name.replace("_", " ")}, 1/{least} of the best peer\'s'
    keeping = [tool for tool in PEERS
               if (it.get('pacing', tool, 'busiest_second', case) or math.inf) <= case['rate'] * KEPT]
    value, whose = it.best('pacing', PEERS, name, case, min)
    if ours:
        it.times(f'{words}, {words_of(case)}', value, ours, least, whose)
    value, other = it.best('pacing', keeping, name, case, min)
    if ours and other != whose:
        it.times(f'{words} that keeps within 5 % of the quota in its busiest second, {words_of(case)}',
                 value, ours, least, other)


def waiting(it):
    for case in it.cases('waiting'):
        grants, requests = (it.get('waiting', 'takt', name, case) for name in ('grants', 'requests_per_second'))
        if grants is not None:
            it.at_most('(E) nothing sent but a claim for each grant and a keepalive of each worker in 2 s: a second',
                       requests, case['processes'] / 2 + grants / case['seconds'])
        cpu = it.get('waiting', 'takt', 'worker_cpu', case)
        if cpu is not None:
            it.add("(E) a waiting worker's processor time, 0.2 %", f'{cpu * 100:.2f} %', cpu <= 0.002)


def one_each(it):
    """The workloads with one goal or two."""
    for case in it.cases('permits'):
        busy = it.get('permits', 'takt', 'busy', case)
        if busy is not None:
            it.add('(C) 95 % busy', f'{busy * 100:.1f} %', busy >= 0.95)
        it.at_most('(C) 4 requests per permit', it.get('permits', 'takt', 'requests_per_grant', case), 4)
    for case in it.cases('memory'):
        ours, plain = (it.get('memory', tool, 'bytes_per_key', case) for tool in ('takt', 'plain SET'))
        if ours and plain:
            it.at_most('(D) 1.15 times a plain SET', ours / plain, 1.15)
    for case in it.cases('latency'):
        ours, bare = (it.get('latency', tool, 'p50_us', case) for tool in ('takt', 'minimal script'))
        if ours and bare:
            it.at_most('(F) 1.15 times a bare EVALSHA', ours / bare, 1.15)
    for case in it.cases('in-process'):
        it.times('(G) 3 times x/time/rate', it.get('in-process', 'takt', 'per_second', case),
                 *with_least(it.best('in-process', GO, 'per_second', case, max), 3))


def growth(it):
    """(H) No step from n to m costs more than from 1 + log2(n) to 1 + log2(m), counted from the first of its row."""
    judged = (('script_us_per_request', 'time of a request', ('workers', 'keys', 'rules', 'rate')),
              ('requests_per_worker_second', 'requests of each worker', ('workers',)),
              ('requests_per_grant', 'requests of all per grant', ('workers', 'rate')))
    for name, words, of in judged:
        rows = {}
        for result in it.results.get('growth', []):
            (grows, value), = result['case'].items()
            found = result['figures'].get(name)
            if found and grows in of:
                rows.setdefault(grows, []).append((value, found['median']))
        for grows, row in rows.items():
            first = row[0][0]
            steps = [(cost / was * (1 + math.log2(before / first)) / (1 + math.log2(value / first)), before, value)
                     for (before, was), (value, cost) in zip(row, row[1:])]
            if steps:
                worst, before, value = max(steps)
                it.add(f'(H) {words}: no step worse than logarithmic in {grows}',
                       f'{number(worst)} of what a logarithm allows, from {before:,} to {value:,}', worst <= 1)


def judge(results):
    """All goals that the results at hand can tell about."""
    it = Judge(results)
    for each in (ceiling, pacing, one_each, waiting, growth):
        each(it)
    return sorted(it.told, key=lambda told: told[0][:3])
