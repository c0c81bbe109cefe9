#!/usr/bin/env python3
"""`takt simulate`: arrivals in and decisions out, and a bulk job done by a fleet."""

import json
import re
import xml.etree.ElementTree as xml
from decimal import Decimal

from command import place, tap, told

POLICY = """limits:
  - name: mail
    rules: [{rate: 2/s}]
  - name: calls
    rules: [{rate: 10/min, burst: 10}]
"""
JOB = ['--workers', '4', '--jobs', '500']


def decisions(done):
    return [json.loads(line, parse_float=Decimal) for line in done.stdout.splitlines()]


def ask(here, text, *words):
    return here.takt('simulate', '--json', '--arrivals', '-', *words, input=text)


def arrivals(report, here):
    text = '# who asks when\n\n7.5 3\n  9.5\t2  # and why\r\n9.5 0\n'
    done = ask(here, text, '--rate', '1/s', '--burst', '5')
    report.check(done.returncode == 0 and done.stdout.splitlines()[1] ==
                 '{"at":9.5,"cost":2,"granted":true,"slot":9.5,"wait":0,"remaining":2,"retry_after":0,"reset_after":3}',
                 'each arrival is one line of JSON, with exact decimals', told(done))
    same = here.takt('simulate', '--json', '--rate', '1/s', '--burst', '5', '--arrivals', here.write('who.txt', text))
    report.check(same.stdout == done.stdout, 'a file says the same as standard input', told(same))
    done = ask(here, '0.1\n0.1\n0.1\n1.2\n', '--rate', '10/s')
    report.check([(one['slot'], one['wait']) for one in decisions(done)] ==
                 [(Decimal('0.1'), 0), (Decimal('0.2'), Decimal('0.1')), (Decimal('0.3'), Decimal('0.2')),
                  (Decimal('1.2'), 0)] and '0.1,' in done.stdout and '0.30' not in done.stdout,
                 '0.1 is told as 0.1', told(done))
    done = ask(here, '0\n' * 4, '--rate', '3/s')
    report.check([one['slot'] for one in decisions(done)] ==
                 [0, Decimal('0.333334'), Decimal('0.666667'), 1], 'a third of a second does not drift', told(done))
    done = ask(here, '0\n' * 12, '--rate', '10/60s', '--burst', '10')
    report.check([one['slot'] for one in decisions(done)] == [0] * 10 + [6, 12],
                 'ten at once, then one every six seconds', told(done))
    done = ask(here, '0\n' * 4, '--rate', '1/s', '--rate', '2/min', '--burst', '2')
    report.check([one['slot'] for one in decisions(done)] == [0, 1, 30, 60], 'several rates hold at once', told(done))


def algorithms(report, here):
    log = ['--rate', '1/s', '--algorithm', 'sliding-log', '--guard', '0', '--rate', '5/min', '--algorithm',
           'sliding-log', '--guard', '0']
    earlier = '0\n2\n39\n51\n53\n'
    done = ask(here, earlier + '56\n', *log)
    report.check(decisions(done)[-1]['wait'] == 4, 'a log waits until the oldest leaves', told(done))
    done = ask(here, earlier + '65\n', *log)
    report.check(decisions(done)[-1]['wait'] == 0, 'and not after that', told(done))
    done = ask(here, '0 100\n78 0\n', '--rate', '100/min', '--algorithm', 'sliding-window')
    report.check(decisions(done)[-1]['remaining'] == 30, 'a sliding window weighs the one before by what is left of it',
                 told(done))
    window = ['--rate', '1/day', '--algorithm', 'fixed-window', '--timezone', 'America/Los_Angeles']
    for start, hours in [('2026-03-08T08:00:00Z', 23), ('2026-03-09T07:00:00Z', 24), ('2026-11-01T07:00:00Z', 25)]:
        done = ask(here, '0\n0\n', *window, '--start', start)
        report.check([one['slot'] for one in decisions(done)] == [0, hours * 3600], f'a day of {hours} hours', told(done))
    first_use = ['--rate', '1/min', '--algorithm', 'fixed-window', '--align', 'first-use']
    done = ask(here, '30\n30\n', *first_use, '--guard', '0')
    report.check([one['slot'] for one in decisions(done)] == [30, 90], 'a window opens with its first use', told(done))
    done = ask(here, '30\n30\n', *first_use)
    report.check([one['slot'] for one in decisions(done)] == [30, Decimal('90.05')], 'work may begin 50 ms late',
                 told(done))
    done = ask(here, '0\n' * 5, '--rate', '1/s', '--algorithm', 'leaky-bucket', '--queue', '2')
    report.check([one['slot'] for one in decisions(done)] == [0, 1, 2, None, None], 'a leaky bucket has a bounded queue',
                 told(done))
    calls = ''.join(f'{150 + i / 30:.6f}\n' for i in range(150)) + ''.join(f'{155 + 2 * i}\n' for i in range(1, 151))
    done = ask(here, calls, '--rate', '300/300s', '--algorithm', 'sliding-log')
    report.check(decisions(done)[-1]['slot'] == 455 and not any(one['wait'] for one in decisions(done)),
                 '300 calls in 300 s do not wait', told(done))
    for words, part in [(['--algorithm', 'gcar'], 'gcar'), (['--queue', '2'], 'queue'),
                        (['--algorithm', 'fixed-window', '--timezone', 'Mars/Base'], 'Mars/Base'),
                        (['--algorithm', 'fixed-window', '--burst', '2'], 'burst')]:
        done = ask(here, '0\n', '--rate', '1/s', *words)
        report.check(done.returncode == 64 and part in done.stderr, ' '.join(words) + ' is refused', told(done))
    done = here.takt('simulate', '--help')
    report.check('gcra, token-bucket, leaky-bucket, fixed-window, sliding-window, sliding-log'
                 in ' '.join(done.stdout.split()), 'the help lists the algorithms', told(done))
    done = here.takt('simulate', '--algorithm', 'gcra', '--arrivals', '-')
    report.check(done.returncode == 64 and '--algorithm gcra' in done.stderr, 'an algorithm belongs to a rate', told(done))


def refusals(report, here):
    done = ask(here, '0\n0\n0.25 6\n1\n', '--rate', '1/s', '--try')
    report.check([(one['granted'], one['slot'], one['wait'], one['retry_after']) for one in decisions(done)] ==
                 [(True, 0, 0, 0), (False, None, None, 1), (False, None, None, None), (True, 1, 0, 0)],
                 '--try grants now or tells when', told(done))
    done = ask(here, '0\n0 1 5 0.999999\n0 1 5 1\n0 1 0\n', '--rate', '1/s')
    report.check([(one['granted'], one['slot']) for one in decisions(done)] ==
                 [(True, 1), (False, None), (False, None), (True, 0)],
                 'priority and patience count, and lines come in the order of the input', told(done))
    person = here.takt('simulate', '--rate', '1/s', '--try', '--arrivals', '-', input='0\n0\n0 2\n')
    report.check(person.returncode == 0 and '"' not in person.stdout and person.stdout.count('refused') == 2
                 and 'never' in person.stdout, 'a person gets columns', told(person))


def malformed(report, here):
    rows = [
        ('x', 1), ('-1', 1), ('1e3', 1), ('1.', 1), ('.5', 1), ('0.1234567', 1), ('99999999999999999999', 1), ('0 x', 1),
        ('0 -1', 1), ('0 1000001', 1), ('0 1.5', 1), ('0 1 10', 1), ('0 1 5 x', 1), ('0 1 5 1 1', 1), ('0 99999999999', 1),
        ('1\n\n# fine\n0.5', 4),
    ]
    for text, line in rows:
        done = ask(here, text + '\n7\n', '--rate', '1/s')
        report.check(done.returncode == 64 and f'-:{line}: ' in done.stderr and len(done.stderr.splitlines()) == 1,
                     f'{text!r} is refused with its line', told(done))
    name = here.write('bad.txt', '0\n1\nsoon\n')
    done = here.takt('simulate', '--rate', '1/s', '--json', '--arrivals', name)
    report.check(done.returncode == 64 and f'{name}:3: "soon"' in done.stderr, 'the file is named', told(done))
    done = here.takt('simulate', '--rate', '1/s', '--arrivals', 'none.txt')
    report.check(done.returncode == 66 and 'none.txt' in done.stderr, 'a file that is not there is told', told(done))


def limits(report, here):
    policy = here.write('limits.yaml', POLICY)
    done = ask(here, '0\n0\n', '--policy', policy, '--limit', 'mail')
    report.check([one['slot'] for one in decisions(done)] == [0, Decimal('0.5')], 'a limit of a policy', told(done))
    done = ask(here, '0\n', '--policy', policy, '--limit', 'male')
    report.check(done.returncode == 64 and 'mail' in done.stderr, 'a misspelt limit is refused', told(done))
    done = ask(here, '0\n', '--policy', policy)
    report.check(done.returncode == 64 and '--limit' in done.stderr, 'of several limits one must be named', told(done))
    one = here.write('one.yaml', POLICY.split('  - name: calls', maxsplit=1)[0])
    report.check(ask(here, '0\n', '--policy', one).returncode == 0, 'the only one need not be named')
    report.check(ask(here, '0\n', '--policy', here.write('bad.yaml', 'limits: 7\n')).returncode == 78,
                 'a bad policy is told')
    for moment in ['2026-03-08T00:00:00Z', '1970-01-01T00:00:00Z', '2026-03-08T00:00:00.25Z']:
        report.check(ask(here, '0\n', '--rate', '1/s', '--start', moment).returncode == 0, f'it may begin at {moment}')
    for moment in ['2026-02-30T00:00:00Z', '2026-03-08', '2026-03-08T00:00:00', 'now', '1969-12-31T23:59:59Z',
                   '2026-03-08T00:00:61Z', '2026-03-08T00:00:00.Z', '2026-03-08T 0:00:00Z']:
        done = ask(here, '0\n', '--rate', '1/s', '--start', moment)
        report.check(done.returncode == 64 and '--start' in done.stderr, f'it cannot begin at {moment}', told(done))


def usage(report, here):
    rows = [
        ([], 'nothing to simulate'),
        (['--workers', '4'], '--jobs'),
        (['--jobs', '4'], '--workers'),
        (['--arrivals', '-', '--seed', '1'], '--seed'),
        (['--arrivals', '-', '--limit', 'a'], '--limit'),
        ([*JOB, '--try'], '--try'),
        ([*JOB, '--store-down', '30s'], '30s+10s'),
        ([*JOB, '--crash', '3'], '3@20s'),
        ([*JOB, '--crash', '0@1s'], '--crash'),
        ([*JOB, '--job-time', '9ms..3ms'], 'shorter'),
        ([*JOB, '--job-time', '9'], '--job-time'),
        ([*JOB, '--cost', '3..2'], 'lower'),
        ([*JOB, '--cost', '2'], 'at most 1'),
        ([*JOB, '--cost', 'tokens=1'], 'its rules name no unit; state a cost without a unit'),
        ([*JOB, *(['--cost', 'a=1'] * 5)], 'for 4 units at most'),
        ([*JOB, '--cost', '=1'], 'write a unit'),
        ([*JOB, '--cost', f'{"t" * 32}=1'], 'at most 31 bytes'),
        ([*JOB, '--cost', 'tokens='], '--cost'),
        ([*JOB, '--priorities', '10:1'], '--priorities'),
        ([*JOB, '--compare', 'gcar'], 'gcar'),
        ([*JOB, 'mail'], 'mail'),
        (['--workers', '0', '--jobs', '1'], '--workers'),
    ]
    for words, part in rows:
        done = here.takt('simulate', '--rate', '1/s', *words)
        report.check(done.returncode == 64 and part in done.stderr, ' '.join(words) + ' is refused', told(done))


def fleet(report, here):
    words = ['simulate', '--rate', '100/s', *JOB, '--job-time', '10ms..90ms', '--rtt', '2ms', '--priorities', '0:1,5:4',
             '--store-down', '1s+500ms', '--crash', '1@2s+1s', '--crash', '1@3s', '--json']
    done = here.takt(*words, '--seed', '7')
    course = json.loads(done.stdout)
    report.check(done.returncode == 0 and course['jobs_done'] == course['jobs'] == 500 and course['seed'] == 7
                 and course['rules'][0]['busiest'] <= 100 and 4.9 < course['duration'] < 9, 'a job is done', told(done))
    report.check(set(course['waits']) == {'all', '0', '5'}
                 and course['waits']['0']['p50'] < course['waits']['5']['p50']
                 and all(one['p50'] <= one['p95'] <= one['p99'] <= one['longest'] for one in course['waits'].values()),
                 'waits are told by priority', course['waits'])
    report.check(len(course['workers']['starts']) == 4 and sum(course['workers']['starts']) == course['started']
                 == 500 + course['started_again'], 'every start is some worker\'s', course)
    report.check(here.takt(*words, '--seed', '7').stdout == done.stdout, 'the same seed says the same')
    report.check(here.takt(*words, '--seed', '8').stdout != done.stdout, 'another seed does not')
    person = here.takt('simulate', '--rate', '100/s', *JOB)
    report.check(person.returncode == 0 and person.stdout.startswith('500 jobs at 100/s take 4.9 s\n')
                 and re.search(r'^busiest.* 100 of 100$', person.stdout, re.MULTILINE), 'a person gets a table',
                 told(person))
    gone = here.takt('simulate', '--rate', '100/s', *JOB, '--crash', '4@1s')
    report.check(gone.returncode == 0 and 'then no worker is left' in gone.stdout, 'a fleet may come to its end',
                 told(gone))


def permits(report, here):
    words = ['simulate', '--concurrency', '5', '--lease', '2s', *JOB, '--job-time', '100ms']
    course = json.loads(here.takt(*words, '--json').stdout)
    told_of = course['permits']
    report.check(course['jobs_done'] == 500 and course['most_at_work'] == 5 and course['rules'] == []
                 and told_of['concurrency'] == 5 and told_of['lost'] == 0 and 0.9 < told_of['busy'] <= 1
                 and told_of['hand_over']['p50'] < 0.01 and 10 <= course['duration'] < 11,
                 'permits are held while jobs are worked on', course)
    person = here.takt(*words)
    report.check(person.returncode == 0 and re.search(r'^most at work at once +5 of 5$', person.stdout, re.MULTILINE)
                 and re.search(r'^permits busy +9\d\.\d %$', person.stdout, re.MULTILINE)
                 and re.search(r'^hand-over: ', person.stdout, re.MULTILINE), 'a person gets it in words', told(person))
    lost = json.loads(here.takt(*words, '--job-time', '5s', '--store-down', '6s+4s', '--json').stdout)
    report.check(lost['permits']['lost'] == 5 and lost['jobs_done'] == 500 and lost['most_at_work'] == 5,
                 'who is out of touch for a lease stops and begins again', lost)
    done = ask(here, '0\n', '--concurrency', '1')
    report.check(done.returncode == 64 and 'simulate a fleet (--workers' in done.stderr, 'arrivals do not tell when jobs end',
                 told(done))
    done = here.takt(*words, '--svg', 'permits.svg')
    report.check(done.returncode == 64 and 'pace of a rule' in done.stderr, 'there is no pace to draw', told(done))


MODEL = """limits:
  - name: model
    rules:
      - {rate: 600/min, burst: 10, counts: requests}
      - {rate: 120000/min, burst: 8000, counts: tokens}
      - {rate: 60000/min, burst: 500, counts: calls, default_amount: 1}
"""


def units(report, here):
    """A limit that counts several units takes an amount of each."""
    here.write('model.yaml', MODEL)
    words = ['simulate', '-p', 'model.yaml', '--workers', '4', '--jobs', '300']
    done = here.takt(*words, '--cost', 'tokens=50..8000', '--cost', 'calls=1..3', '--json')
    figures = json.loads(done.stdout)
    rules = figures['rules']
    report.check([rule['unit'] for rule in rules] == ['requests', 'tokens', 'calls'] and rules[0]['taken'] == 300
                 and rules[1]['taken'] == figures['tokens'] > 300 * 3000 and 400 < rules[2]['taken'] < 800,
                 'a fleet takes amounts of each unit', figures)
    pace = rules[1]['taken'] / figures['last_start']
    report.check(1950 < pace < 2100, 'the scarce unit is used up', pace)
    done = here.takt(*words, '--cost', 'tokens=50..8000', '--html', 'model.html', '--svg', 'model.svg')
    report.check(done.returncode == 0 and 'busiest minute of tokens' in done.stdout
                 and 'busiest minute of calls' in done.stdout, 'the table names the units', told(done))
    report.check('busiest minute of calls' in here.read('model.html') and 'Calls per' in here.read('model.svg'),
                 'so do the pictures')
    rows = [
        ([], 'no amount of tokens, which its rules count'),
        (['--cost', '3'], 'its rules count tokens; state the amount of tokens'),
        (['--cost', 'tokens=8001'], 'a job of 8001 tokens: rules[1] (gcra) gives at most 8000'),
        (['--cost', 'tokens=5', '--cost', 'bytes=1'], 'its rules count tokens, calls'),
        (['--cost', 'tokens=5', '--cost', 'requests=1'], 'each acquire is one request'),
        (['--cost', 'tokens=5', '--cost', 'tokens=1'], 'two amounts of tokens'),
        (['--cost', 'tokens=-5'], '--cost'),
    ]
    for more, part in rows:
        done = here.takt(*words, *more)
        report.check(done.returncode == 64 and part in done.stderr, ' '.join(more) + ' is refused', told(done))
    oracle = ['simulate', '-p', 'model.yaml', '--arrivals', '-']
    done = here.takt(*oracle, '--json', input='0 tokens=8000,calls=3\n0 tokens=2000\n0 0\n1 tokens=9000\n')
    told_of = [json.loads(line) for line in done.stdout.splitlines()]
    report.check([one['slot'] for one in told_of] == [0, 1, 0, None]
                 and told_of[0]['cost'] == {'tokens': 8000, 'calls': 3} and told_of[3]['retry_after'] is None,
                 'an oracle takes amounts', told(done))
    done = here.takt(*oracle, input='0 tokens=8000,calls=3\n')
    report.check('tokens=8000,calls=3' in done.stdout, 'and says them', told(done))
    rows = [
        ('0', '-:1: limit "model": no amount of tokens'),
        ('0 \x01=-', r'-:1: "-": "\x01" is a whole number from 0 to 1000000'),
        ('0 tokens=1\n0 tokens=1,bytes=3', '-:2: limit "model": an amount of "bytes"; its rules count tokens, calls'),
        ('0 tokens=', 'ask for 1 to 1000000'),
        ('0 tokens=-1', 'whole number'),
        ('0 =1', 'a cost is a number, or up to 4 amounts like tokens=1500,calls=2'),
        ('0 tokens=1,a', 'a cost is a number'),
        ('0 a=1,b=1,c=1,d=1,e=1', 'a cost is a number'),
        ('0 tokens=0', '0 tokens; ask for 1 to 1000000'),
    ]
    for line, part in rows:
        done = here.takt(*oracle, input=line + '\n')
        report.check(done.returncode == 64 and part in done.stderr, f'{line!r} is refused', told(done))


def pictures(report, here):
    done = here.takt('simulate', '--rate', '100/s', *JOB, '--svg', 'job.svg', '--html', 'job.html', '--json')
    report.check(done.returncode == 0, 'pictures are drawn', told(done))
    root = xml.fromstring(here.read('job.svg'))
    report.check(root.tag.endswith('}svg') and not [one for one in root.iter() if one.tag.endswith('script')],
                 'the picture is well-formed XML without a script')
    page = here.read('job.html')
    report.check(page.startswith('<!doctype html>') and page.count('<svg ') == 3 and '>quota 100/s<' in page,
                 'the page holds the panels')
    report.check('http' not in page.replace('http://www.w3.org/2000/svg', ''), 'and nothing from elsewhere')
    here.write('levels.yaml', 'limits:\n  - {name: server, rules: [{rate: 10/s}]}\n'
               '  - {name: domain, within: server, rules: [{rate: 100/s}]}\n')
    done = here.takt('simulate', '-p', 'levels.yaml', '--limit', 'domain', '--workers', '2', '--jobs', '100', '--json')
    report.check(done.returncode == 0 and 9.8 < json.loads(done.stdout)['duration'] < 11,
                 'a limit is simulated with those that it is within', told(done))
    done = here.takt('simulate', '-p', 'levels.yaml', '--limit', 'domain', '--workers', '2', '--jobs', '100')
    report.check(re.search(r'^busiest second at domain .* of 100\n^busiest second at server .* of 10$', done.stdout,
                           re.MULTILINE), 'whose rules the table names', told(done))
    done = here.takt('simulate', '--rate', '100/s', *JOB, '--compare', 'gcra,fixed-window,sliding-log', '--json', '--svg',
                     'compared.svg')
    told_of = [json.loads(line)['rules'][0] for line in done.stdout.splitlines()]
    report.check([rule['algorithm'] for rule in told_of] == ['gcra', 'fixed-window', 'sliding-log']
                 and [rule['busiest'] for rule in told_of][::2] == [100, 100] and told_of[1]['busiest'] > 100,
                 'algorithms are put side by side', told(done))
    report.check(here.read('compared.svg').count('Starts per worker') == 3, 'and drawn in one picture')
    done = here.takt('simulate', '--rate', '100/s', *JOB, '--svg', 'none/job.svg')
    report.check(done.returncode == 73 and 'none/job.svg' in done.stderr, 'where it cannot be written it says so',
                 told(done))
    full = here.takt('simulate', '--rate', '100/s', *JOB, '--svg', '/dev/full')
    report.check(full.returncode == 73, 'a full disk is told', told(full))


def main():
    report = tap.Report()
    for test in [arrivals, algorithms, refusals, malformed, limits, usage, fleet, permits, units, pictures]:
        with place() as here:
            test(report, here)
    report.end()


if __name__ == '__main__':
    main()
