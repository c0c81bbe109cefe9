#!/usr/bin/env python3
"""
takt and what people use today, side by side: same work, same machine, same run.

Usage: compare.py BUILD PEERS RESULTS [LETTER...]
BUILD has takt, PEERS is the folder that bench/side/install filled, RESULTS gets one JSON file and one picture for each
workload, and table.md.  LETTERs choose workloads.  QUICK=1 runs less of everything, RUNS=5 more often.

Every figure is the median of RUNS runs (3), one of each tool in turn, with their range; what takes long is run once, and
the results say so.  Where a tool is not here it is named; where one fails the case has no figures, and says why.
"""

import concurrent.futures
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import picture
import report
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
    workloads = {'in-process'}

    def __init__(self, program, version, processors):
        self.program, self.version, self.processors = program, version, processors
        self.name = 'x/time/rate' if processors > 1 else 'x/time/rate, one thread'


class PlainSet:
    """What (D) is measured by: SET with an expiry, names and values as long as takt's."""

    name, version, workloads = 'plain SET', '', {'memory'}


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        model = next((line.split(':')[1].strip() for line in file if line.startswith('model name')), 'unknown')
    with open('/proc/meminfo', encoding='utf-8') as file:
        memory_kb = int(file.readline().split()[1])
    return {'processor': model, 'processors': os.cpu_count(), 'memory_gb': round(memory_kb / 1e6, 1),
            'system': platform.freedesktop_os_release().get('PRETTY_NAME', 'unknown'), 'kernel': platform.release(),
            'load_before': os.getloadavg()[0]}


def find_tools(build, peers):
    found, missing = tools.find(build, peers)
    version = tools.benchmark_version()
    go = tools.rate_of_go(peers)
    found += [Benchmark(version)] if version else []
    found += [Go(*go, processors) for processors in sorted({os.cpu_count(), 1}, reverse=True)] if go else []
    missing += [] if version else ['redis-benchmark']
    missing += [] if go else ['x/time/rate']
    return found + [PlainSet()], missing


def say(text):
    print(text, file=sys.stderr, flush=True)


def summary(told):
    """The median and the range of each figure of one tool's runs."""
    figures = {}
    for name in dict.fromkeys(name for each in told for name in each):
        values = [each[name] for each in told if name in each]
        figures[name] = {'median': statistics.median(values), 'low': min(values), 'high': max(values)}
    return figures


def attempt(workload, tool, server, case):
    """The figures of one run, or a text: why there are none."""
    try:
        return workload.measure(tool, server, case, QUICK)
    except (RuntimeError, subprocess.SubprocessError, OSError, LookupError, ZeroDivisionError) as trouble:
        return f'{type(trouble).__name__}: {trouble}'


def attempt_with_own_server(workload, tool, case):
    server = Server()
    try:
        return attempt(workload, tool, server, case)
    finally:
        server.close()


def attempt_each(workload, due, server, case):
    if not workload.at_once:
        return [attempt(workload, tool, server, case) for tool in due]
    with concurrent.futures.ThreadPoolExecutor(max(len(due), 1)) as threads:
        return list(threads.map(lambda tool: attempt_with_own_server(workload, tool, case), due))


def measure(workload, found, server):
    """All cases and tools of a workload, one run of each in turn. What failed once is not run again."""
    told, failed = {}, {}
    cases = workload.cases(QUICK)
    for number in range(RUNS):
        began = time.monotonic()
        for at, case in enumerate(cases):
            due = [tool for tool in workload.tools(found)
                   if (at, tool.name) not in failed and number < workload.runs(tool, case, RUNS)]
            for tool, came in zip(due, attempt_each(workload, due, server, case)):
                runs = told.setdefault((at, tool.name), [])
                if isinstance(came, dict):
                    runs.append(came)
                else:
                    failed[at, tool.name] = came
                    say(f'side: ({workload.letter}) {tool.name}, {picture.words_of(case)}: {came}')
        say(f'side: ({workload.letter}) {workload.title}: run {number + 1} of {RUNS}, {time.monotonic() - began:.0f} s')
    return [{'tool': name, 'case': cases[at], 'runs': len(runs), 'figures': summary(runs),
             **({'failed': failed[at, name]} if (at, name) in failed else {})}
            for (at, name), runs in sorted(told.items(), key=lambda item: item[0][0])]


def write(folder, workload, results, head):
    text = {**head, 'letter': workload.letter, 'workload': workload.name, 'title': workload.title, 'main': workload.main,
            'note': workload.note, 'without': workload.without, 'results': results}
    (folder / f'{workload.name}.json').write_text(json.dumps(text, indent=1) + '\n')
    (folder / f'{workload.name}.svg').write_text(picture.svg(workload, results))
    for result in results:
        print(json.dumps({'bench': f'side, {workload.name}', 'tool': result['tool'], **result['case'],
                          **{name: figure['median'] for name, figure in result['figures'].items()}}), flush=True)


def main():
    build, peers, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    wanted = [word.upper() for word in sys.argv[4:]]
    folder.mkdir(parents=True, exist_ok=True)
    found, missing = find_tools(build, peers)
    for name in missing:
        say(f'side: {name} is not here, and is not compared with')
    server = Server()
    try:
        head = {'date': time.strftime('%Y-%m-%d %H:%M'), 'machine': machine(), 'runs': RUNS, 'quick': QUICK,
                'server': f'Redis {server.info("server")["redis_version"]}',
                'versions': {tool.name: tool.version for tool in found if tool.version}, 'missing': missing}
        for workload in workloads.every(tools.sleeper(build)):
            if not wanted or workload.letter in wanted:
                write(folder, workload, measure(workload, found, server), head)
    finally:
        server.close()
    report.write(folder)
    say(f'side: {folder / "table.md"}')


if __name__ == '__main__':
    main()
