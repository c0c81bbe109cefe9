#!/usr/bin/env python3
"""
The results as tables: RESULTS/table.md with all of them, and a short one for the README. All numbers come from the JSON
files of the last run.

Usage: report.py RESULTS [README]
README is a file with the two lines BEGIN and END: what is between them becomes the short table.
"""

import collections
import json
import pathlib
import sys

import goals
from picture import number, words_of

BEGIN = '<!-- begin: side by side, written by make bench-readme -->'
END = '<!-- end: side by side -->'
TOOLS = ('takt', 'bottleneck', 'rate-limiter-flexible', 'bullmq', 'python3-limits', 'minimal script')
FOUR = {'rate': 200, 'processes': 4}
# Of the README, in the order of a reader's questions: words, workload, case, figure, and how it is written.
ROWS = (
    ('Rate kept? Error at 200/s, 4 processes', 'pacing', FOUR, 'rate_error', lambda value: f'{value * 100:.2g}%'),
    ('Busiest second, quota 200', 'pacing', FOUR, 'busiest_second', number),
    ('Even spacing? Gap off 5 ms, p99, ms', 'pacing', FOUR, 'gap_deviation_p99_ms', number),
    ('Requests to Redis per start', 'pacing', FOUR, 'requests_per_grant', number),
    ('Redis CPU per start, us', 'pacing', FOUR, 'server_us_per_grant', number),
    ('Requests per second, 10,000 waiters at 10/s', 'waiting', {}, 'requests_per_second', number),
    ('Speed: acquires per second without waiting, 4 processes', 'ceiling', {'processes': 4}, 'per_second', number),
    ('Latency of one acquire, p50, us', 'latency', {}, 'p50_us', number),
    ('8 permits, jobs of 20 ms: permits busy', 'permits', {}, 'busy', '{:.1%}'.format),
    ('Memory per key, bytes', 'memory', {}, 'bytes_per_key', number),
)
# Of the README: what a missed goal was about.  A goal begins with one of these.
SUBJECTS = (
    ('(A)', 'throughput over Redis'),
    ('(B) rate', 'the rate'),
    ('(B) busiest second', 'the busiest second'),
    ('(B) the same by slots', 'slots in the busiest second'),
    ('(B) gaps', 'even spacing'),
    ('(B) requests per grant', 'requests per start'),
    ('(B) server us per grant', 'Redis CPU per start'),
    ('(C)', 'busy permits'),
    ('(D)', 'memory per key'),
    ('(E)', 'the cost of waiting'),
    ('(F)', 'latency'),
    ('(G)', 'throughput within one process'),
    ('(H)', 'growth with workers, keys and rules'),
)
SUBJECTS_MAX = 3  # that the README names


def read(folder):
    """What the last run wrote, by workload; files of earlier ones are left out."""
    told = [json.loads(path.read_text()) for path in sorted(folder.glob('*.json'))]
    last = max((each['date'] for each in told), default=None)
    return {each['workload']: each for each in sorted(told, key=lambda each: each['letter']) if each['date'] == last}


def line(cells):
    return '| ' + ' | '.join(cells) + ' |'


def cell_of(figure, runs, with_range):
    if not figure:
        return '-'
    text = number(figure['median'])
    return f'{text} ({number(figure["low"])} to {number(figure["high"])})' if with_range and runs > 1 else text


def workload_table(told):
    """One line for each case and tool: the medians, the range of the main figure behind it."""
    names = list(dict.fromkeys(name for result in told['results'] for name in result['figures']))
    lines = [f'## ({told["letter"]}) {told["title"]}', '', f'![{told["title"]}]({told["workload"]}.svg)', '',
             line(['', 'runs', *(name.replace('_', ' ') for name in names)]),
             '| --- |' + ' ---: |' * (len(names) + 1)]
    for result in told['results']:
        cells = [cell_of(result['figures'].get(name), result['runs'], name == told['main']) for name in names]
        lines.append(line([f'{result["tool"]}, {words_of(result["case"])}', str(result['runs']), *cells]))
    lines += ['', told['note']] if told['note'] else ['']
    if told['without']:
        lines.append('Without it: ' + ', '.join(f'{tool} ({why})' for tool, why in told['without'].items()) + '.')
    lines += [f'{result["tool"]}, {words_of(result["case"])}, failed: {result["failed"]}'
              for result in told['results'] if 'failed' in result]
    return [*lines, '']


def head_of(told):
    head = next(iter(told.values()))
    machine = head['machine']
    lines = [f'Made by `make bench` on {head["date"]}: {machine["processor"]}, {machine["processors"]} processors, '
             f'{machine["memory_gb"]:g} GB, {machine["system"]}, Linux {machine["kernel"]}, {head["server"]}; '
             f'load before: {machine["load_before"]:.1f}. Medians of {head["runs"]} runs, one of each tool in turn, '
             'ranges in brackets; the column runs says where there were fewer.',
             'Versions: ' + ', '.join(f'{name} {version}'.strip() for name, version in head['versions'].items()) + '.']
    if head['quick']:
        lines.append('This is a quick run (`QUICK=1`): too short to tell much.')
    if head['missing']:
        lines.append('Not here, and so not compared with: ' + ', '.join(head['missing']) + '.')
    return lines


def judged(told):
    return goals.judge({name: each['results'] for name, each in told.items()})


def write(folder):
    told = read(folder)
    lines = ['# takt, side by side with what people use today', '', *head_of(told),
             'What each tool is and how it is called: [bench/SIDE.md](../SIDE.md).', '',
             '## What was aimed at', '', line(['goal', 'found', '']), '| --- | ---: | --- |',
             *(line(row) for row in judged(told)), '']
    for each in told.values():
        lines += workload_table(each)
    (folder / 'table.md').write_text('\n'.join(lines).rstrip() + '\n')


def shortfalls(goals_told):
    """One sentence: how many goals were missed, and what most of them were about."""
    missed = [(goal, verdict) for goal, _, verdict in goals_told if verdict.startswith(goals.MISSED)]
    if not missed:
        return f'takt reached all {len(goals_told)} goals ([table](bench/results/table.md)).'
    disturbed = sum(verdict != goals.MISSED for _, verdict in missed)
    subjects = [next((words for start, words in SUBJECTS if goal.startswith(start)), goal) for goal, _ in missed]
    *others, last = [subject for subject, _ in collections.Counter(subjects).most_common(SUBJECTS_MAX)]
    most = f'{", ".join(others)} and {last}' if others else last
    most = f'most of them in {most}' if len(set(subjects)) > SUBJECTS_MAX else f'in {most}'
    return (f'takt missed {len(missed)} of [{len(goals_told)} goals](bench/results/table.md)'
            + (f', {disturbed} of them while other programs disturbed the machine' if disturbed else '')
            + f', {most}: [why](bench/NOTES.md#side-by-side).')


def short(told):
    """The table of the README, and a sentence about the goals that were missed."""
    results = {name: each['results'] for name, each in told.items()}
    machine = next(iter(told.values()))['machine']
    lines = [f'Medians of `make bench`, {next(iter(told.values()))["date"][:10]}, on {machine["processors"]} processors '
             f'({machine["processor"]}):', '', line(['', *TOOLS]), '| --- |' + ' ---: |' * len(TOOLS)]
    for words, workload, case, name, text in ROWS:
        values = [goals.figure(results, workload, tool, name, **case) for tool in TOOLS]
        if any(value is not None for value in values):
            lines.append(line([words, *('-' if value is None else text(value) for value in values)]))
    ours, *theirs = (goals.figure(results, 'in-process', tool, 'per_second') for tool in ('takt', *goals.GO))
    if ours and any(theirs):
        lines += ['', f'Within one process, 1,000 waiters: {number(ours)} acquires per second with takt, '
                      f'{number(max(filter(None, theirs)))} with Go\'s x/time/rate.']
    return '\n'.join([*lines, '', shortfalls(judged(told))])


def write_readme(folder, readme):
    text = readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f'report.py: {readme} lacks the line {BEGIN} or {END}')
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(f'{before}{BEGIN}\n{short(read(folder))}\n{END}{after}')


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder)
    if len(sys.argv) > 2:
        write_readme(folder, pathlib.Path(sys.argv[2]))


if __name__ == '__main__':
    main()
