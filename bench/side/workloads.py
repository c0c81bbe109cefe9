"""
The workloads: what is run on each tool, and which figures come of one run. Every function is called several times, in
turn with the other tools; `figures` are the medians and ranges of that.
"""

import json
import os
import subprocess
import time

import run as runs

QUANTILES = {'p50': 0.5, 'p99': 0.99}
PROCESSES = (1, 4, 16, 64)
SPREAD_OUT_US = 200000  # starts with no gap longer than this


def quantile(values, at):
    values = sorted(values)
    return values[min(len(values) - 1, int(at * len(values)))] if values else None


def busiest_second(instants):
    most = first = 0
    for last, at in enumerate(instants):
        while at - instants[first] >= 1000000:
            first += 1
        most = max(most, last - first + 1)
    return most


def rate_of(starts, result):
    """Per second: from the first to the last where they are spread out, which is exact; where they come in bursts, those
    of as many whole seconds as there are from the first on, for it is chance how many bursts the measured time has."""
    edges = [result.begin_us, *starts, result.until_us]
    if max(b - a for a, b in zip(edges, edges[1:])) < SPREAD_OUT_US:
        return (len(starts) - 1) * 1e6 / (starts[-1] - starts[0])
    seconds = int((result.until_us - starts[0]) / 1e6)
    if seconds == 0:
        return len(starts) / result.seconds()
    return sum(at < starts[0] + seconds * 1000000 for at in starts) / seconds


def deviation_p99_ms(instants, interval_us):
    return quantile([abs(b - a - interval_us) for a, b in zip(instants, instants[1:])], 0.99) / 1000


def per_grant(result, grants):
    return {'requests_per_grant': result.server['requests'] / grants,
            'commands_per_grant': result.server['commands'] / grants,
            'bytes_per_grant': result.server['bytes'] / grants,
            'server_us_per_grant': result.server['cpu_us'] / grants,
            'worker_us_per_grant': sum(result.cpu_us) / grants}


class Workload:
    """`cases` are the words and numbers of each; main is the figure that is drawn; without names the tools that have
    no such thing, and why; note is what a reader of the table should know; at_once: all tools are measured at the same
    time, each with a server of its own, and not in turn."""

    letter = title = main = unit = note = None
    higher_is_better = True
    name = None
    without = {}
    at_once = False

    def tools(self, tools):
        return [tool for tool in tools if self.name in tool.workloads]

    def runs(self, tool, case, most):
        """How often: fewer where a run is long, none where it would tell nothing new."""
        return most


class Ceiling(Workload):
    letter, name, title, main, unit = 'A', 'ceiling', 'acquires that never wait, one limit', 'per_second', 'a second'
    note = 'Each process has 1,000 acquires under way (BullMQ: 100 jobs, python3-limits: one call); redis-benchmark ' \
           'sends pipelines of 100 INCR.'

    def cases(self, quick):
        return [{'processes': n} for n in ((4,) if quick else (1, 4, 16))]

    def runs(self, tool, case, most):
        return most if tool.name == 'takt' or case['processes'] <= 4 else 1

    def measure(self, tool, server, case, quick):
        if tool.name == 'redis-benchmark':
            return self.benchmark(server, case)
        result = runs.run(tool, server, case['processes'], 0.5 if quick else 0.8,
                          {'workload': 'ceiling', 'outstanding': 1000})
        if all('counted' in answer for answer in result.answers):  # too many to write down each
            return {'per_second': sum(answer['counted'] * 1e6 / answer['counted_us'] for answer in result.answers)}
        return {'per_second': len(result.counted()) / result.seconds()}

    @staticmethod
    def benchmark(server, case):
        text = subprocess.run(['redis-benchmark', '-s', server.socket, '-t', 'incr', '-P', '100', '-n', '1000000', '-c',
                               str(max(case['processes'], 4)), '--csv'], capture_output=True, text=True, check=True).stdout
        return {'per_second': float(text.splitlines()[1].split(',')[1].strip('"'))}


class Pacing(Workload):
    letter, name, title, main, unit = 'B', 'pacing', 'pacing, saturated', 'rate_error', 'of the rate'
    higher_is_better = False
    note = '50 acquires wait in each process (python3-limits: one). A process that only sleeps from beat to beat runs ' \
           'beside all: `bare` is how uneven its gaps are, which is what the machine could do meanwhile. Slots are ' \
           "takt's own times; starts, by which all are judged, are when jobs really began."

    def __init__(self, sleeper):
        self.sleeper = sleeper

    def cases(self, quick):
        if quick:
            return [{'rate': 200, 'processes': 4}]
        return [{'rate': rate, 'processes': n} for rate in (200, 300, 1500) for n in PROCESSES]

    def runs(self, tool, case, most):
        """All at 200/s by 4 processes; the peers once with other numbers of one of both, takt with those of both."""
        if case['rate'] == 200 and (tool.name == 'takt' or case['processes'] == 4):
            return most
        if tool.name == 'takt':
            return most if case['processes'] == 4 else 1
        return 1 if case['rate'] == 200 or case['processes'] == 4 else 0

    def measure(self, tool, server, case, quick):
        rate = case['rate']
        result = runs.run(tool, server, case['processes'], 2.0 if quick else 2.3,
                          {'workload': 'pacing', 'rate': rate, 'outstanding': 50}, sleeper=self.sleeper)
        starts = result.counted()
        if len(starts) < 3:
            return {'rate': 0.0, 'rate_error': 1.0}
        achieved = rate_of(starts, result)
        gaps = [b - a for a, b in zip(starts, starts[1:])]
        shares, mean = result.shares(), len(starts) / result.processes
        slots = {'busiest_second_slots': busiest_second(sorted(result.slots))} if result.slots else {}
        return {'rate': achieved, 'rate_error': abs(achieved / rate - 1), 'busiest_second': busiest_second(starts), **slots,
                'bare_busiest_second': busiest_second(result.beats),
                'gap_p50_ms': quantile(gaps, 0.5) / 1000, 'gap_p99_ms': quantile(gaps, 0.99) / 1000,
                'gap_deviation_p99_ms': deviation_p99_ms(starts, 1e6 / rate),
                'bare_gap_deviation_p99_ms': deviation_p99_ms(result.beats, 1e6 / rate),
                'unevenness': (max(shares) - min(shares)) / mean, **per_grant(result, len(starts))}


class Permits(Workload):
    letter, name, title, main, unit = 'C', 'permits', '8 permits, jobs of 20 ms, 16 processes', 'busy', 'of the permits'
    note = 'Each process has 4 jobs that want a permit. A permit is busy from the start of a job to its end, which is ' \
           'what `job ms` is.'
    without = {'rate-limiter-flexible': 'limits only rates', 'python3-limits': 'limits only rates',
               'minimal script': 'limits only rates'}

    def cases(self, quick):
        return [{'permits': 8, 'processes': 4 if quick else 16}]

    def measure(self, tool, server, case, quick):
        result = runs.run(tool, server, case['processes'], 1.5 if quick else 3.0,
                          {'workload': 'permits', 'permits': 8, 'job_ms': 20, 'outstanding': 4})
        jobs, grants = result.all('jobs'), len(result.counted())
        if not jobs or not grants:
            return {'busy': 0.0}
        return {'busy': result.all('busy_us') / 1e6 / (8 * result.seconds()),
                'job_ms': result.all('jobs_us') / jobs / 1000, **per_grant(result, grants)}


class Memory(Workload):
    letter, name, title, main, unit = 'D', 'memory', 'memory of a key', 'bytes_per_key', 'bytes'
    higher_is_better = False
    note = 'Bottleneck is measured with a tenth of the keys. A plain SET has a value of 24 bytes and an expiry.'
    without = {'bullmq': 'has queues instead of keys'}

    def cases(self, quick):
        return [{'keys': 10000 if quick else 100000}]

    def runs(self, tool, case, most):
        return 1 if tool.name in ('bottleneck', 'python3-limits') else most

    def measure(self, tool, server, case, quick):
        # Bottleneck makes a limiter and several keys for each: a tenth of them lasts as long as all of the others.
        count = case['keys'] // 10 if tool.name == 'bottleneck' else case['keys']
        server.empty()
        before = server.bytes()
        if tool.name == 'plain SET':
            server.set_plain(count)
        else:
            runs.run_once(tool, server, {'workload': 'memory', 'count': count, 'outstanding': 100})
        return {'bytes_per_key': (server.bytes() - before) / count}


class Waiting(Workload):
    letter, name, title, main, unit = 'E', 'waiting', '10,000 waiters on a limit of 10/s', 'requests_per_second', 'requests'
    higher_is_better = False
    at_once = True  # less than one processor is busy
    note = 'Run once: it lasts a minute, the same for all; each has a server of its own. Processor times are parts of one ' \
           'processor, of a worker on average and of the server. A tool that is alone and nearly idle takes up to a half ' \
           'more, since it finds less in the caches.'
    without = {'python3-limits': 'blocks a thread for each that waits'}

    def cases(self, quick):
        return [{'waiters': 10000, 'processes': 4, 'seconds': 3 if quick else 60}]

    def runs(self, tool, case, most):
        return 1

    def measure(self, tool, server, case, quick):
        seconds, processes = case['seconds'], case['processes']
        result = runs.run(tool, server, processes, seconds,
                          {'workload': 'waiting', 'rate': 10, 'outstanding': case['waiters'] // processes},
                          in_step=2 if quick else 15)  # Bottleneck takes 10 s to get all into its queue
        return {'grants': len(result.counted()), 'requests_per_second': result.server['requests'] / seconds,
                'bytes_per_second': result.server['bytes'] / seconds,
                'server_cpu': result.server['cpu_us'] / seconds / 1e6,
                'worker_cpu': sum(result.cpu_us) / processes / seconds / 1e6}


class Latency(Workload):
    letter, name, title, main, unit = 'F', 'latency', 'one uncontended acquire', 'p50_us', 'us'
    higher_is_better = False
    note = 'BullMQ: from adding a job to its start. Bottleneck is asked a third as often. The minimal script is the bare ' \
           'EVALSHA that is aimed at.'

    def cases(self, quick):
        return [{'times': 500 if quick else 3000}]

    def measure(self, tool, server, case, quick):
        server.empty()
        times = case['times'] // 3 if tool.name == 'bottleneck' else case['times']  # 3 ms each
        answer, did = runs.run_once(tool, server, {'workload': 'latency', 'count': times})
        took = answer['took_ns'][len(answer['took_ns']) // 5:]  # the first ones warm everything up
        return {**{f'{name}_us': quantile(took, at) / 1000 for name, at in QUANTILES.items()},
                'requests_per_acquire': did['requests'] / times}


class InProcess(Workload):
    letter, name, title, main, unit = 'G', 'in-process', 'in one process, 1,000 waiters', 'per_second', 'a second'
    note = "takt's loop has one thread; goroutines run on as many processors as there are, and on one."

    def cases(self, quick):
        return [{'waiters': 1000}]

    def measure(self, tool, server, case, quick):
        seconds = 0.5 if quick else 2
        if tool.name == 'takt':
            end_us = time.monotonic_ns() // 1000 + int(seconds * 1e6)
            words = tool.command({'workload': 'ceiling', 'socket': 'memory:', 'outstanding': 1000, 'end_us': end_us})
            answer = json.loads(subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout)
            return {'per_second': answer['counted'] * 1e6 / answer['counted_us']}
        text = subprocess.run([tool.program, '1000', str(seconds)], capture_output=True, check=True,
                              env={**os.environ, 'GOMAXPROCS': str(tool.processors)}).stdout
        return {'per_second': json.loads(text)['per_second']}


class Growth(Workload):
    letter, name, title, main, unit = 'H', 'growth', 'growth', 'script_us_per_request', 'us'
    higher_is_better = False
    note = 'takt alone: what more workers (at 200/s), keys, rules and tokens a second (4 workers) cost. The time of ' \
           'scripts is the one that the server tells of its commands.'

    def cases(self, quick):
        return [{'workers': n} for n in ((1, 16) if quick else (1, 4, 16, 64, 256))] + \
            [{'keys': n} for n in ((1, 10000) if quick else (1, 1000, 100000, 1000000))] + \
            [{'rules': n} for n in ((1, 8) if quick else (1, 2, 4, 8))] + \
            [{'rate': n} for n in ((1, 10**6) if quick else (1, 100, 10000, 10**6))]

    def runs(self, tool, case, most):
        return 1 if case.get('keys', 0) >= 1000000 or case.get('workers', 0) > 64 else most

    def measure(self, tool, server, case, quick):
        if 'keys' in case or 'rules' in case:
            return self.one_by_one(tool, server, case, 1000 if quick else 5000)
        workers, rate = case.get('workers', 4), case.get('rate', 200)
        result = runs.run(tool, server, workers, 1.5,
                          {'workload': 'pacing', 'rate': rate, 'outstanding': min(max(50, rate), 2000)})
        requests, grants = result.server['requests'], len(result.counted())
        return {'script_us_per_request': result.server['script_us'] / requests,
                'requests_per_worker_second': requests / workers / result.seconds(),
                **({'requests_per_grant': requests / grants} if grants else {})}

    @staticmethod
    def one_by_one(tool, server, case, times):
        """Acquires one after the other, of as many keys or with as many rules."""
        plan = {'workload': 'latency', **case}
        server.empty()
        if 'keys' in case:
            runs.run_once(tool, server, {**plan, 'count': case['keys'], 'outstanding': 100})
        answer, did = runs.run_once(tool, server, {**plan, 'count': times, 'outstanding': 1})
        return {'script_us_per_request': did['script_us'] / did['requests'],
                'p50_us': quantile(answer['took_ns'], 0.5) / 1000}


def every(sleeper):
    return [Ceiling(), Pacing(sleeper), Permits(), Memory(), Waiting(), Latency(), InProcess(), Growth()]
