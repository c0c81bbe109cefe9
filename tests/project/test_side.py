#!/usr/bin/env python3
"""
bench/side judges honestly: its arithmetic on starts that are given, goals by results that are given, and the README's
table from files; and its processes begin together. Nothing is measured here.
"""

import os
import pathlib
import json
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(os.environ['TAKT_SOURCE']) / 'bench' / 'side'))
import compare  # noqa: E402
import goals  # noqa: E402
import report as tables  # noqa: E402
import run as runs  # noqa: E402
import tap  # noqa: E402
import tools  # noqa: E402
import workloads  # noqa: E402
from server import Server  # noqa: E402

CASE = {'rate': 200, 'processes': 4}


def figures(**values):
    """Each is a median, or (median, low, high)."""
    return {name: dict(zip(('median', 'low', 'high'), value if isinstance(value, tuple) else (value,) * 3))
            for name, value in values.items()}


def result(tool, case, **values):
    return {'tool': tool, 'case': case, 'runs': 3, 'figures': figures(**values)}


def verdict(workload, results, words):
    """(found, verdict) of the one goal with these words."""
    (told,) = [told for told in goals.judge({workload: results}) if words in told[0]]
    return told[1:]


def measured(starts):
    """A run of two and a half seconds."""
    found = runs.Run(1, 0, 2500000)
    found.starts = [starts]
    return workloads.rate_of(found.counted(), found)


def check_arithmetic(report):
    report.check(workloads.busiest_second([0, 999999, 1000000]) == 2, 'a second ends before its last microsecond')
    report.check(abs(measured(range(3000, 2500000, 5000)) - 200) < 1e-9, 'the rate of even starts is exact')
    bursts = [burst * 1005000 + i * 10 for burst in range(3) for i in range(200)]
    report.check(measured(bursts) == 200, 'three bursts of 200 within two and a half seconds are 200/s', measured(bursts))
    late = [at + 800000 for at in bursts]
    report.check(measured(late) == 200, 'and so are two of them', measured(late))


def check_pacing(report):
    ours = {'requests_per_grant': 0.1, 'busiest_second': (200, 200, 203), 'bare_busiest_second': 204,
            'gap_deviation_p99_ms': 2.0, 'bare_gap_deviation_p99_ms': 3.0}
    peers = [result('rate-limiter-flexible', CASE, requests_per_grant=0.9, busiest_second=390),
             result('python3-limits', CASE, requests_per_grant=1.5, busiest_second=200)]
    results = [result('takt', CASE, **ours), *peers]
    found = verdict('pacing', results, "best peer's, 200/s")
    report.check(found == ('9 times (rate-limiter-flexible)', goals.MISSED), 'the best peer is the best of all', found)
    found = verdict('pacing', results, 'that keeps within 5 %')
    report.check(found == ('15 times (python3-limits)', goals.REACHED), 'the best that keeps the quota is told beside it', found)
    found = verdict('pacing', results, 'never above')
    report.check(found[0] == '203' and found[1].startswith(goals.MISSED), 'never is judged by the worst run', found)
    report.check('disturbed' in found[1] and '3 ms' in found[1], 'a disturbed machine is told, with its number', found)
    calm = [result('takt', CASE, **{**ours, 'bare_gap_deviation_p99_ms': 0.1})]
    found = verdict('pacing', calm, 'gaps within')
    report.check(found == ('2', goals.MISSED), 'on a calm one there is no excuse', found)


def check_others(report):
    results = [result('takt', {'processes': 1}, per_second=700), result('bullmq', {'processes': 1}, per_second=1),
               result('minimal script', {'processes': 1}, per_second=10)]
    found = verdict('ceiling', results, '80 times')
    report.check(found == ('70 times (minimal script)', goals.MISSED), 'a script that is asked again waits, too', found)
    steps = [result('takt', {'workers': n}, script_us_per_request=cost) for n, cost in ((1, 10), (2, 20), (4, 31))]
    found = verdict('growth', steps, 'time of a request')
    report.check(found[1] == goals.MISSED and 'from 2 to 4' in found[0], 'each step is judged, not only the whole', found)
    steps[-1] = result('takt', {'workers': 4}, script_us_per_request=30)
    report.check(verdict('growth', steps, 'time of a request')[1] == goals.REACHED, 'what a logarithm allows is allowed')


def check_readme(report):
    head = {'date': '2026-01-02 03:04', 'machine': {'processors': 2, 'processor': 'P', 'memory_gb': 8, 'system': 'S',
            'kernel': 'K', 'load_before': 0}, 'server': 'Redis', 'versions': {}, 'runs': 3, 'quick': False,
            'missing': ['bullmq'], 'letter': 'F', 'workload': 'latency', 'title': 'one', 'main': 'p50_us', 'note': None,
            'without': {'bottleneck': 'why not'}}
    rows = [result('takt', {'times': 9}, p50_us=12), result('minimal script', {'times': 9}, p50_us=(10, 9, 11))]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        readme = folder / 'README.md'
        readme.write_text(f'before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n')
        (folder / 'latency.json').write_text(json.dumps({**head, 'results': rows}))
        old = {**head, 'date': '2025-01-02 03:04', 'workload': 'memory', 'letter': 'D', 'results': rows}
        (folder / 'memory.json').write_text(json.dumps(old))
        tables.write(folder)
        tables.write_readme(folder, readme)
        table, text = (folder / 'table.md').read_text(), readme.read_text()
    report.check('| minimal script, 9 times | 3 | 10 (9 to 11) |' in table, 'medians with their range, and how many runs', table)
    report.check('bullmq' in table and 'bottleneck (why not)' in table, 'who is not compared with is named', table)
    report.check('(D)' not in table, 'what an earlier run left is not mixed in', table)
    report.check(text.startswith('before\n') and text.endswith('\nafter\n') and 'old' not in text, 'the README around it stays')
    report.check('| Latency of one acquire, p50, us | 12 |' in text, 'the README has the medians', text)
    report.check('takt missed 1 of [1 goals](bench/results/table.md), in latency: [why]' in text,
                 'the README names what was missed', text)


def check_subjects(report):
    told = tables.read(pathlib.Path(os.environ['TAKT_SOURCE']) / 'bench' / 'results')
    unnamed = [goal for goal, _, _ in tables.judged(told)
               if not any(goal.startswith(start) for start, _ in tables.SUBJECTS)]
    report.check(told and not unnamed, 'every goal has a subject in the README', unnamed)
    report.check(tables.shortfalls([('(F) x', '1', tables.goals.REACHED)]).startswith('takt reached all 1 goals'),
                 'nothing missed is said, too')
    told = [('(B) rate, 1', '1', tables.goals.MISSED + '; disturbed'), ('(B) rate, 2', '2', tables.goals.MISSED)]
    report.check(tables.shortfalls(told) == 'takt missed 2 of [2 goals](bench/results/table.md), 1 of them while other '
                 'programs disturbed the machine, in the rate: [why](bench/NOTES.md#side-by-side).',
                 'a subject is named once, and what was disturbed is counted')
    told += [(goal, '1', tables.goals.MISSED) for goal in ('(A)', '(C)', '(C)', '(D)', '(D)', '(D)')]
    report.check(', most of them in memory per key, the rate and busy permits: ' in tables.shortfalls(told),
                 'the subjects of most goals are named', tables.shortfalls(told))
    report.check(len(tables.ROWS) <= 10, 'the table of the README stays short')


class Breaks(workloads.Workload):
    """One tool has figures, one fails at once, one in its second run."""

    name = 'breaks'

    def __init__(self):
        self.left = {'takt': 9, 'bullmq': 0, 'bottleneck': 1}

    def cases(self, quick):
        return [{'times': 1}]

    def tools(self, tools):
        return tools

    def measure(self, tool, server, case, quick):
        self.left[tool.name] -= 1
        if self.left[tool.name] < 0:
            raise RuntimeError('out of order')
        return {'figure': self.left[tool.name]}


def check_failures(report):
    found = [tools.Tool(name, '', set(), None) for name in ('takt', 'bullmq', 'bottleneck')]
    compare.RUNS, compare.say = 3, lambda text: None
    ours, never, once = compare.measure(Breaks(), found, None)
    report.check(ours['runs'] == 3 and ours['figures']['figure'] == {'median': 7, 'low': 6, 'high': 8}, 'medians and ranges', ours)
    report.check(never['runs'] == 0 and 'out of order' in never['failed'], 'who fails keeps nobody from being measured', never)
    report.check(once['runs'] == 1 and 'failed' in once, 'and has the figures from before', once)


class Meets(workloads.Workload):
    """A run ends when the other tool's run has begun; its figure names its server."""

    name, at_once = 'meets', True

    def __init__(self):
        self.both = threading.Barrier(2, timeout=300)

    def cases(self, quick):
        return [{'times': 1}]

    def tools(self, tools):
        return tools

    def measure(self, tool, server, case, quick):
        self.both.wait()
        return {'server': server.process.pid}


def check_at_once(report):
    compare.RUNS = 1
    told = compare.measure(Meets(), [tools.Tool(name, '', set(), None) for name in ('takt', 'bullmq')], None)
    servers = {each['figures'].get('server', {}).get('median') for each in told}
    report.check(len(servers) == 2 and None not in servers, 'tools are measured at once, each with its own server', told)


def answers(server, script, processes=3):
    """Those of a shell script, or what is said of it."""
    tool = tools.Tool('shell', '', set(), lambda plan: ['sh', '-c', script], in_step=0.01)
    try:
        return runs.run(tool, server, processes, 0.01, {}).answers
    except RuntimeError as trouble:
        return str(trouble)


def check_together(report):
    server = Server()
    try:
        told = answers(server, 'echo ready; read begin until end; echo "{\\"times\\": [$begin, $until, $end]}"')
        report.check(len(told) == 3 and told[0] == told[1] == told[2], 'all begin and end at the same time', told)
        begin_us, until_us, end_us = told[0]['times']
        report.check(until_us - begin_us == 10000 and end_us > until_us, 'and as long as was asked for', told)
        told = answers(server, 'echo out of order >&2; exit 3')
        report.check('out of order' in told, 'one that ends before it is ready says why', told)
        told = answers(server, 'exec <&-; echo ready; echo out of order >&2; exit 3')
        report.check('out of order' in told, 'and so does one that does not wait for the others', told)
    finally:
        server.close()


def main():
    report = tap.Report()
    check_failures(report)
    check_arithmetic(report)
    check_pacing(report)
    check_others(report)
    check_readme(report)
    check_subjects(report)
    check_at_once(report)
    check_together(report)
    report.end()


main()
