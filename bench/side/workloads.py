"""
The workloads: what is run on each tool, and which figures come of one run. Every function is called several times, in
turn with the other tools; `figures` are the medians and ranges of that.
"""

import json
import subprocess
import time

import run as runs

QUANTILES = {'p50': 0.5, 'p99': 0.99}


def quantile(values, at):
    values = sorted(values)
    return values[min(len(values) - 1, int(at * len(values)))] if values else None


def busiest_second(starts):
    most = first = 0
    for last, at in enumerate(starts):
        while at - starts[first] >= 1000000:
            first += 1
        most = max(most, last - first + 1)
    return most


def rate_of(starts, result, interval_us):
    """Per second, from the first to the last: exact where they are even; those who come in bursts are judged by the
    whole time."""
    span_us = max(starts[-1] - starts[0], result.until_us - result.begin_us - 2 * interval_us)
    return (len(starts) - 1) * 1e6 / span_us


def per_grant(result, grants):
    return {'requests_per_grant': result.server['requests'] / grants,
            'commands_per_grant': result.server['commands'] / grants,
            'server_us_per_grant': result.server['cpu_us'] / grants}


class Workload:
    """`cases` are the words and numbers of each; main is the figure that is drawn."""

    letter = title = main = unit = None
    higher_is_better = True
    name = None

    def tools(self, tools):
        return [tool for tool in tools if self.name in tool.workloads]


class Ceiling(Workload):
    letter, name, title, main, unit = 'A', 'ceiling', 'acquires that never wait, one limit', 'per_second', 'a second'

    def cases(self, quick):
        return [{'processes': n} for n in ((1, 4) if quick else (1, 4, 16))]

    def measure(self, tool, server, case, quick):
        if tool.name == 'redis-benchmark':
            return self.benchmark(server, case)
        result = runs.run(tool, server, case['processes'], 0.5 if quick else 1.0,
                          {'workload': 'ceiling', 'outstanding': 1000, 'feed': 2000})
        if all('counted' in answer for answer in result.answers):  # too many to write down each
            return {'per_second': sum(answer['counted'] * 1e6 / answer['counted_us'] for answer in result.answers)}
        return {'per_second': len(result.counted()) * 1e6 / (result.until_us - result.begin_us)}

    @staticmethod
    def benchmark(server, case):
        text = subprocess.run(['redis-benchmark', '-s', server.socket, '-t', 'incr', '-P', '100', '-n', '1000000', '-c',
                               str(max(case['processes'], 4)), '--csv'], capture_output=True, text=True, check=True).stdout
        return {'per_second': float(text.splitlines()[1].split(',')[1].strip('"'))}


class Pacing(Workload):
    letter, name, title, main, unit = 'B', 'pacing', 'pacing, saturated', 'rate_error', 'of the rate'
    higher_is_better = False

    def cases(self, quick):
        if quick:
            return [{'rate': 200, 'processes': 4}]
        return [{'rate': 200, 'processes': n} for n in (1, 4, 16, 64)] + \
               [{'rate': rate, 'processes': 4} for rate in (300, 1500)]

    def measure(self, tool, server, case, quick):
        rate = case['rate']
        result = runs.run(tool, server, case['processes'], 2.0 if quick else 3.0,
                          {'workload': 'pacing', 'rate': rate, 'outstanding': 50, 'feed': 2 * rate})
        starts = result.counted()
        if len(starts) < 3:
            return {'rate': 0.0, 'rate_error': 1.0}
        achieved = rate_of(starts, result, 1e6 / rate)
        gaps = [b - a for a, b in zip(starts, starts[1:])]
        shares, mean = result.shares(), len(starts) / result.processes
        return {'rate': achieved, 'rate_error': abs(achieved / rate - 1), 'busiest_second': busiest_second(starts),
                'gap_p50_ms': quantile(gaps, 0.5) / 1000, 'gap_p99_ms': quantile(gaps, 0.99) / 1000,
                'gap_deviation_p99_ms': quantile([abs(gap - 1e6 / rate) for gap in gaps], 0.99) / 1000,
                'unevenness': (max(shares) - min(shares)) / mean, **per_grant(result, len(starts))}


class Permits(Workload):
    letter, name, title, main, unit = 'C', 'permits', '8 permits, jobs of 20 ms, 16 processes', 'busy', 'of the permits'

    def cases(self, quick):
        return [{'permits': 8, 'processes': 4 if quick else 16}]

    def measure(self, tool, server, case, quick):
        result = runs.run(tool, server, case['processes'], 1.5 if quick else 3.0,
                          {'workload': 'permits', 'permits': 8, 'job_ms': 20, 'outstanding': 4, 'feed': 1000})
        starts = len(result.counted())
        seconds = (result.until_us - result.begin_us) / 1e6
        return {'busy': starts * 0.020 / (8 * seconds), **(per_grant(result, starts) if starts else {})}


class Memory(Workload):
    letter, name, title, main, unit = 'D', 'memory', 'memory of a key', 'bytes_per_key', 'bytes'
    higher_is_better = False

    def cases(self, quick):
        return [{'keys': 10000 if quick else 100000}]

    def measure(self, tool, server, case, quick):
        # Bottleneck makes a limiter and eight keys for each: a tenth of them lasts as long as all of the others.
        count = case['keys'] // 10 if tool.name == 'bottleneck' else case['keys']
        server.empty()
        before = server.bytes()
        if tool.name == 'plain SET':
            server.set_plain(count)
            return {'bytes_per_key': (server.bytes() - before) / count}
        runs.run_once(tool, server, {'workload': 'memory', 'count': count, 'outstanding': 100})
        return {'bytes_per_key': (server.bytes() - before) / count}


class Waiting(Workload):
    letter, name, title, main, unit = 'E', 'waiting', '10,000 waiters on a limit of 10/s', 'requests_per_second', 'requests'
    higher_is_better = False

    def cases(self, quick):
        return [{'waiters': 10000, 'processes': 4, 'seconds': 5 if quick else 20}]

    def measure(self, tool, server, case, quick):
        seconds, processes = case['seconds'], case['processes']
        result = runs.run(tool, server, processes, seconds,
                          {'workload': 'waiting', 'rate': 10, 'outstanding': case['waiters'] // processes, 'feed': 100},
                          warm_up=5)
        return {'grants': len(result.counted()), 'requests_per_second': result.server['requests'] / seconds,
                'server_cpu': result.server['cpu_us'] / seconds / 1e6,
                'worker_cpu': sum(result.cpu_us) / processes / seconds / 1e6}


class Latency(Workload):
    letter, name, title, main, unit = 'F', 'latency', 'one uncontended acquire', 'p50_us', 'us'
    higher_is_better = False

    def cases(self, quick):
        return [{'times': 500 if quick else 3000}]

    def measure(self, tool, server, case, quick):
        server.empty()
        answer, _ = runs.run_once(tool, server, {'workload': 'latency', 'count': case['times']})
        took = answer['took_ns'][len(answer['took_ns']) // 5:]  # the first ones warm everything up
        return {f'{name}_us': quantile(took, at) / 1000 for name, at in QUANTILES.items()}


class InProcess(Workload):
    letter, name, title, main, unit = 'G', 'in-process', 'in one process, 1,000 waiters', 'per_second', 'a second'

    def cases(self, quick):
        return [{'waiters': 1000}]

    def tools(self, tools):
        return [tool for tool in tools if tool.name in ('takt', 'x/time/rate')]

    def measure(self, tool, server, case, quick):
        seconds = 0.5 if quick else 2
        if tool.name == 'takt':
            end_us = time.monotonic_ns() // 1000 + int(seconds * 1e6)
            words = tool.command({'workload': 'ceiling', 'socket': 'memory:', 'outstanding': 1000, 'end_us': end_us})
            answer = json.loads(subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout)
            return {'per_second': answer['counted'] * 1e6 / answer['counted_us']}
        text = subprocess.run([tool.program, '1000', str(seconds)], capture_output=True, check=True).stdout
        return {'per_second': json.loads(text)['per_second']}


class Growth(Workload):
    """takt alone: what one more of everything costs."""

    letter, name, title, main, unit = 'H', 'growth', 'growth', 'server_us_per_request', 'us'
    higher_is_better = False

    def tools(self, tools):
        return [tool for tool in tools if tool.name == 'takt']

    def cases(self, quick):
        few = [{'workers': n} for n in ((1, 16) if quick else (1, 4, 16, 64, 256))]
        return few + [{'keys': n} for n in ((1, 10000) if quick else (1, 1000, 100000, 1000000))] + \
            [{'rules': n} for n in ((1, 8) if quick else (1, 2, 4, 8))] + \
            [{'rate': n} for n in ((1, 10**6) if quick else (1, 100, 10000, 10**6))]

    def measure(self, tool, server, case, quick):
        if 'keys' in case or 'rules' in case:
            return self.one_by_one(tool, server, case, 1000 if quick else 5000)
        workers, rate = case.get('workers', 4), case.get('rate', 200)
        result = runs.run(tool, server, workers, 2.0 if quick else 3.0,
                          {'workload': 'pacing', 'rate': rate, 'outstanding': min(max(50, rate), 2000)})
        requests = result.server['requests']
        return {'server_us_per_request': result.server['cpu_us'] / requests,
                'requests_per_worker_second': requests / workers / ((result.until_us - result.begin_us) / 1e6)}

    @staticmethod
    def one_by_one(tool, server, case, times):
        """Acquires one after the other, of as many keys or with as many rules."""
        plan = {'workload': 'memory' if 'keys' in case else 'latency', 'rules': case.get('rules', 1)}
        server.empty()
        if 'keys' in case:
            runs.run_once(tool, server, {**plan, 'count': case['keys'], 'outstanding': 100})
        answer, did = runs.run_once(tool, server, {**plan, 'count': times, 'outstanding': 1})
        return {'server_us_per_request': did['cpu_us'] / did['requests'],
                'p50_us': quantile(answer['took_ns'], 0.5) / 1000}


ALL = [Ceiling(), Pacing(), Permits(), Memory(), Waiting(), Latency(), InProcess(), Growth()]
