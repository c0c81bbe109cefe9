#!/usr/bin/env python3
"""
takt and what people use today, side by side: same work, same machine, same run.

Usage: compare.py BUILD PEERS RESULTS [LETTER...]
BUILD has takt, PEERS is the folder that bench/side/install filled, RESULTS gets one JSON file and one picture for each
workload, and table.md.  LETTERs choose workloads.  QUICK=1 runs less of everything, RUNS=5 more often.

Every figure is the median of RUNS runs (3), one of each tool in turn, with their range.  Where a tool is not here it is
named; where one fails the case has no figures, and says why.
"""

import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import goals
import picture
import tools
import workloads
from server import Server

QUICK = os.environ.get('QUICK', '') not in ('', '0')
RUNS = int(os.environ.get('RUNS') or (1 if QUICK else 3))


class Benchmark:
    """redis-benchmark itself, in the place of a tool."""

    name, workloads = 'redis-benchmark', {'ceiling'}

    def __init__(self, version):
        self.version = version


class Go:
    name, version, workloads = 'x/time/rate', '', {'in-process'}

    def __init__(self, program):
        self.program = program


class PlainSet:
    """What (D) is measured by: SET with an expiry, names and values as long as takt's."""

    name, version, workloads = 'plain SET', '', {'memory'}


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        model = next((line.split(':')[1].strip() for line in file if line.startswith('model name')), 'unknown')
    return {'processor': model, 'processors': os.cpu_count(), 'kernel': platform.release()}


def find_tools(build, peers):
    found, missing = tools.find(build, peers)
    version = tools.benchmark_version()
    program = tools.rate_of_go(peers)
    found += [Benchmark(version)] if version else []
    found += [Go(program)] if program else []
    missing += [] if version else ['redis-benchmark']
    missing += [] if program else ['x/time/rate']
    return found + [PlainSet()], missing


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(workload, found, server):
    """All cases and tools of a workload, one run of each in turn."""
    gathered, failed = {}, {}
    cases = workload.cases(QUICK)
    for number in range(RUNS):
        for at, case in enumerate(cases):
            for tool in workload.tools(found):
                key = (at, tool.name)
                if key in failed:
                    continue
                try:
                    gathered.setdefault(key, []).append(workload.measure(tool, server, case, QUICK))
                except (RuntimeError, subprocess.SubprocessError, OSError, KeyError, ZeroDivisionError) as trouble:
                    failed[key] = f'{type(trouble).__name__}: {trouble}'
                    say(f'side: ({workload.letter}) {tool.name}, {picture.words_of(case)}: {failed[key]}')
        say(f'side: ({workload.letter}) {workload.title}: run {number + 1} of {RUNS}')
    results = []
    for (at, name), told in sorted(gathered.items(), key=lambda item: item[0][0]):
        figures = {}
        for figure in told[0]:
            values = [each[figure] for each in told if figure in each]
            figures[figure] = {'median': statistics.median(values), 'low': min(values), 'high': max(values)}
        results.append({'tool': name, 'case': cases[at], 'runs': len(told), 'figures': figures})
    results += [{'tool': name, 'case': cases[at], 'runs': 0, 'figures': {}, 'failed': why}
                for (at, name), why in failed.items()]
    return results


def write(folder, workload, results, head):
    text = {**head, 'workload': workload.name, 'title': workload.title, 'results': results}
    (folder / f'{workload.name}.json').write_text(json.dumps(text, indent=1) + '\n')
    (folder / f'{workload.name}.svg').write_text(picture.svg(workload, results))
    for result in results:
        print(json.dumps({'bench': f'side, {workload.name}', 'tool': result['tool'], **result['case'],
                          **{name: figure['median'] for name, figure in result['figures'].items()}}), flush=True)


def report(folder, told, head, missing):
    lines = ['# takt, side by side with what people use today', '',
             f'Made by `make bench` on {head["date"]}: {head["machine"]["processor"]}, '
             f'{head["machine"]["processors"]} processors, {head["server"]}; medians of {RUNS} runs, ranges in brackets.',
             'Versions: ' + ', '.join(f'{name} {version}'.strip() for name, version in head['versions'].items()) + '.', '']
    if missing:
        lines += ['Not here, and so not compared with: ' + ', '.join(missing) + '.', '']
    results = {}
    for workload, found in told:
        results[workload.name] = found
        lines.append(picture.table(workload, found))
    lines += ['## What was aimed at', '', '| goal | found | |', '| --- | ---: | --- |']
    lines += [f'| {goal} | {value} | {"reached" if reached else "**missed**"} |' for goal, value, reached in goals.judge(results)]
    (folder / 'table.md').write_text('\n'.join(lines) + '\n')


def main():
    build, peers, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    wanted = [word.upper() for word in sys.argv[4:]]
    folder.mkdir(parents=True, exist_ok=True)
    found, missing = find_tools(build, peers)
    for name in missing:
        say(f'side: {name} is not here, and is not compared with')
    server, told = Server(), []
    try:
        head = {'date': time.strftime('%Y-%m-%d'), 'machine': machine(), 'runs': RUNS, 'quick': QUICK,
                'server': f'Redis {server.info("server")["redis_version"]}',
                'versions': {tool.name: tool.version for tool in found if tool.version}, 'missing': missing}
        for workload in workloads.ALL:
            if not wanted or workload.letter in wanted:
                told.append((workload, measure(workload, found, server)))
                write(folder, *told[-1], head)
    finally:
        server.close()
    report(folder, told, head, missing)
    say(f'side: {folder / "table.md"}')


if __name__ == '__main__':
    main()
