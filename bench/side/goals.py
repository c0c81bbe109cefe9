"""What was aimed at, judged by the medians of one run: a list of (goal, found, reached)."""

import math

from picture import number, words_of

PEERS_THAT_WAIT = ('bottleneck', 'rate-limiter-flexible', 'bullmq')
KEPT = 1.05  # of the quota in the busiest second: who starts more does another work


def figure(results, workload, tool, name, **case):
    for result in results.get(workload, []):
        if result['tool'] == tool and all(result['case'].get(key) == value for key, value in case.items()):
            found = result['figures'].get(name)
            return found['median'] if found else None
    return None


def cases(results, workload):
    seen = []
    for result in results.get(workload, []):
        if result['case'] not in seen:
            seen.append(result['case'])
    return seen


class Judge:
    def __init__(self, results):
        self.results, self.told = results, []

    def get(self, workload, tool, name, case):
        return figure(self.results, workload, tool, name, **case)

    def add(self, goal, value, reached):
        if value is not None:
            self.told.append((goal, value, reached))

    def times(self, goal, ours, theirs, least):
        """Ours is to be so many times theirs; nothing is told where one of them is not known."""
        if ours is not None and theirs:
            self.add(goal, f'{number(ours / theirs)} times', ours / theirs >= least)

    def at_most(self, goal, value, most):
        if value is not None:
            self.add(goal, number(value), value <= most)


def judge(results):
    """All goals that the results at hand can tell about."""
    it = Judge(results)
    for case in cases(results, 'ceiling'):
        ours, at = it.get('ceiling', 'takt', 'per_second', case), words_of(case)
        it.times(f'(A) 1,000 times Bottleneck, {at}', ours, it.get('ceiling', 'bottleneck', 'per_second', case), 1000)
        peers = [it.get('ceiling', tool, 'per_second', case) or 0 for tool in PEERS_THAT_WAIT]
        it.times(f'(A) 80 times the best that waits, {at}', ours, max(peers), 80)
        it.times(f'(A) more than redis-benchmark, {at}', ours, it.get('ceiling', 'redis-benchmark', 'per_second', case), 1)
    for case in cases(results, 'pacing'):
        at = words_of(case)
        it.at_most(f'(B) rate within 0.05 %, {at}', it.get('pacing', 'takt', 'rate_error', case), 0.0005)
        it.at_most(f'(B) busiest second, quota + 1, {at}', it.get('pacing', 'takt', 'busiest_second', case),
                   case['rate'] + 1)
        it.at_most(f'(B) gaps within 0.3 ms (p99), {at}', it.get('pacing', 'takt', 'gap_deviation_p99_ms', case), 0.3)
        if case['processes'] == 4:
            for name, least in (('requests_per_grant', 10), ('server_us_per_grant', 5)):
                peers = [value for tool in (*PEERS_THAT_WAIT, 'minimal script')
                         if (value := it.get('pacing', tool, name, case)) is not None
                         and it.get('pacing', tool, 'busiest_second', case) <= case['rate'] * KEPT]
                it.times(f'(B) {name.replace("_", " ")}, 1/{least} of the best peer that keeps the quota, {at}',
                         min(peers, default=None),
                         it.get('pacing', 'takt', name, case), least)
    for case in cases(results, 'permits'):
        busy = it.get('permits', 'takt', 'busy', case)
        if busy is not None:
            it.add('(C) 95 % busy', f'{busy * 100:.1f} %', busy >= 0.95)
        it.at_most('(C) 4 requests per permit', it.get('permits', 'takt', 'requests_per_grant', case), 4)
    for case in cases(results, 'memory'):
        ours, plain = it.get('memory', 'takt', 'bytes_per_key', case), it.get('memory', 'plain SET', 'bytes_per_key', case)
        if ours and plain:
            it.at_most('(D) 1.15 times a plain SET', ours / plain, 1.15)
    for case in cases(results, 'waiting'):
        it.at_most('(E) keepalives only: a request in 2 s and one for each grant, 4 workers',
                   it.get('waiting', 'takt', 'requests_per_second', case), case['processes'] / 2 + 10)
        it.at_most("(E) a waiting worker's processor time, 0.2 %", it.get('waiting', 'takt', 'worker_cpu', case), 0.002)
    for case in cases(results, 'latency'):
        ours, bare = it.get('latency', 'takt', 'p50_us', case), it.get('latency', 'minimal script', 'p50_us', case)
        if ours and bare:
            it.at_most('(F) 1.15 times a bare EVALSHA', ours / bare, 1.15)
    for case in cases(results, 'in-process'):
        it.times('(G) 3 times x/time/rate', it.get('in-process', 'takt', 'per_second', case),
                 it.get('in-process', 'x/time/rate', 'per_second', case), 3)
    growth(it, results)
    return it.told


def growth(it, results):
    """(H) A step up of n times may cost what log2(n) adds, counted from the first case of its row."""
    rows = {}
    for result in results.get('growth', []):
        (name, value), = result['case'].items()
        found = result['figures'].get('server_us_per_request')
        if found:
            rows.setdefault(name, []).append((value, found['median']))
    for name, row in rows.items():
        (first, base), *rest = row
        worst = max(((cost / base) / (1 + math.log2(value / first)), value) for value, cost in rest) if rest else None
        if worst:
            it.add(f'(H) no worse than logarithmic in {name}',
                   f'{number(worst[0])} of what the logarithm allows, at {worst[1]:,}', worst[0] <= 1)
