#!/usr/bin/env python3
"""Whichever allocation and whichever access to a file fails: each command of `takt` says so, or does its work."""

import json
import pathlib
import sys
import tempfile

from failing import Case, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from clusters import cluster  # noqa: E402
from redis_server import server  # noqa: E402
from sentinels import watched  # noqa: E402

ONCE = ('',)  # what waits for its store goes on waiting as long as there is no memory
POLICY = '''namespace: "{mail}"
limits:
  - name: mail
    rules: [{rate: 1000/s, burst: 20}, {rate: 5000/min, algorithm: sliding-log}]
    within: all
  - name: all
    concurrency: 4
    rules: [{rate: 100000/h, algorithm: fixed-window, timezone: Europe/Berlin}]
'''
FILES = {'takt.yaml': POLICY, 'in': ''.join(f'{n}\n' for n in range(12)),
         'arrivals': ''.join(f'{n / 10} 1 {n % 10}\n' for n in range(30))}

APPLIED = {**FILES, 'follows.yaml': 'namespace: "{mail}"\npolicy: store\n'}


def undone_or_done(_, done):
    """A line of the input is done or not, and undone lines are reported."""
    log = done.folder / 'log'
    records = [json.loads(line) for line in log.read_text(encoding='utf-8').splitlines()] if log.exists() else []
    ended = {record['line'] for record in records if record['event'] == 'end' and record['status'] == 0}
    if done.code == 0 and not done.place and len(ended) != 12:
        return f'only {len(ended)} lines are done'
    return None


def case(name, *words, **settings):
    return Case(name, 'takt', *words, files={**FILES, **settings.pop('files', {})}, **settings)


CASES = [
    case('check', 'check', 'takt.yaml'),
    case('check --json', 'check', '--json', 'takt.yaml'),
    case('help', '--help'),
    case('run', 'run', 'mail', '--', 'true', ways=ONCE),
    case('run --rate', 'run', 'other', '--rate', '10/s', '--', 'true', ways=ONCE),
    case('map', 'map', 'mail', '-q', '-i', 'in', '--log', 'log', '--undone', 'rest', '--', 'true', check=undone_or_done,
         ways=ONCE),
    case('map of a pipe', 'map', 'mail', '-j', '2', '--', 'cat', given='1\n2\n3\n', ways=ONCE),
    case('peek', 'peek', 'mail'),
    case('peek --json', 'peek', '--json', 'mail'),
    case('block', 'block', 'mail', '1h', '--reason', 'a reason'),
    case('penalize', 'penalize', 'mail', '1h'),
    case('unblock', 'unblock', 'mail', prepare=[('takt', 'block', 'mail', '1h')]),
    case('reset', 'reset', 'mail'),
    case('apply', 'apply', 'takt.yaml'),
    case('policy', 'policy', prepare=[('takt', 'apply', 'takt.yaml')]),
    case('policy that is followed', 'run', '-p', 'follows.yaml', 'mail', '--', 'true', files=APPLIED, ways=ONCE,
         prepare=[('takt', 'apply', 'takt.yaml')]),
    case('top', 'top', '--once', loose=True),  # a rate needs two looks
    case('doctor', 'doctor'),
    case('simulate', 'simulate', '--limit', 'mail', '--workers', '3', '--jobs', '60'),
    case('simulate --arrivals', 'simulate', '--rate', '5/s', '--arrivals', 'arrivals'),
    case('simulate --arrivals --json', 'simulate', '--rate', '5/s', '--json', '--arrivals', 'arrivals'),
]


def over(url):
    """What a connection to a server adds."""
    return [
        case('run over Redis', 'run', 'mail', '-s', url, '--', 'true', ways=ONCE),
        case('peek over Redis', 'peek', 'mail', '-s', url, loose=True),
        case('block over Redis', 'block', 'mail', '1ms', '-s', url, loose=True),
        case('apply over Redis', 'apply', 'takt.yaml', '-s', url, loose=True),
        case('doctor over Redis', 'doctor', '--timeout', '60s', '-s', url, loose=True,
             ways=ONCE),  # else nothing is sent, and it waits
    ]


def over_many(name, url):
    """What it adds to find the server: the nodes of a cluster, or Sentinels."""
    return [
        case(f'run over {name}', 'run', 'mail', '-s', url, '--', 'true', ways=ONCE),
        case(f'block over {name}', 'block', 'mail', '1ms', '-s', url, loose=True),
        case(f'top over {name}', 'top', '--once', '-s', url, loose=True, ways=ONCE),
        case(f'doctor over {name}', 'doctor', '--timeout', '60s', '-s', url, loose=True, ways=ONCE),
    ]


with tempfile.TemporaryDirectory() as folder, server(pathlib.Path(folder)) as redis, \
        cluster(pathlib.Path(folder), replicas=0) as nodes, \
        watched(pathlib.Path(folder), sentinels=1, replicas=0, quorum=1) as fleet:
    run(CASES + over(redis.url) + over_many('a cluster', nodes.url) + over_many('a Sentinel', fleet.url), ('memory', 'io'))
