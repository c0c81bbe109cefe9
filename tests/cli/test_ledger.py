#!/usr/bin/env python3
"""`takt peek`, `block`, `penalize`, `unblock` and `reset`: their output and their effect."""

import json

from command import end, ends, place, tap, told, until, until_waiting
from redis_server import server

LIMIT = ['--rate', '2/h', '--burst', '2']
HOUR = 3600 * 1000000


def look(here, *words):
    return json.loads(here.takt('peek', '--json', *LIMIT, *words).stdout)


def attempt(here, name):
    return here.takt('run', '--try', *LIMIT, name, '--', 'true').returncode


def peek(report, here):
    standing = look(here, 'api')
    report.check(standing['remaining'] == standing['limit_tokens'] == 2 and standing['retry_after_us'] == 0
                 and standing['reset_after_us'] == 0 and standing['waiting'] == standing['workers'] == 0
                 and standing['limit'] == 'api' and standing['key'] is None,
                 'an unused limit is as from rest', standing)
    attempt(here, 'api')
    one = look(here, 'api')
    attempt(here, 'api')
    none = look(here, 'api')
    report.check(one['remaining'] == 1 and one['retry_after_us'] == 0 and none['remaining'] == 0
                 and 0 < none['retry_after_us'] <= HOUR // 2 < none['reset_after_us'] <= HOUR,
                 'each token taken shows', f'{one}\n{none}')
    report.check(look(here, 'api')['remaining'] == 0, 'looking takes nothing')
    key = 'ä"\\\x01'
    report.check(look(here, f'api:{key}')['key'] == key, 'any key comes out of the JSON as it went in')
    done = here.takt('peek', *LIMIT, 'api:acme')
    report.check(done.returncode == 0 and done.stdout.startswith('api key "acme": 2/h burst 2\n')
                 and '  remaining    2 of 2\n' in done.stdout and '  blocked      no\n' in done.stdout,
                 'a person gets lines', told(done))


def rules(report, here):
    """What each rule has left, in its unit."""
    several = ['--rate', '5/h:requests', '--burst', '5', '--rate', '1000/h:tokens', '--burst', '800']
    here.takt('run', *several, '--cost', 'tokens=300', 'llm', '--', 'true')
    standing = json.loads(here.takt('peek', '--json', *several, 'llm').stdout)
    told_rules = [(rule['unit'], rule['limit'], rule['remaining']) for rule in standing['rules']]
    report.check(told_rules == [('requests', 5, 4), ('tokens', 800, 500)] and
                 all(0 < rule['reset_after_us'] <= 1.1 * HOUR for rule in standing['rules']),
                 'each rule has what it has left', standing)
    done = here.takt('peek', *several, 'llm')
    report.check('  remaining    4 of 5 requests, full in ' in done.stdout and
                 '\n               500 of 800 tokens, full in ' in done.stdout, 'and a person sees it', told(done))
    two = ['--rate', '5/h', '--burst', '5', '--rate', '9/day', '--burst', '9']
    done = here.takt('peek', *two, 'both')
    report.check('  remaining    5 of 5\n    rule 1     5 of 5 tokens, full in ' in done.stdout and
                 '\n    rule 2     9 of 9 tokens, full in ' in done.stdout, 'the least of rules of one unit', told(done))
    here.takt('block', *several, 'llm', '1h')
    standing = json.loads(here.takt('peek', '--json', *several, 'llm').stdout)
    report.check([rule['remaining'] for rule in standing['rules']] == [0, 0], 'a block leaves nothing', standing)
    standing = json.loads(here.takt('peek', '--json', *LIMIT, 'one').stdout)
    report.check([(rule['unit'], rule['limit'], rule['remaining']) for rule in standing['rules']] == [('tokens', 2, 2)],
                 'a single rule is the limit', standing)


def permits(report, here):
    words = ['--concurrency', '3', '--lease', '90s', 'api']
    standing = json.loads(here.takt('peek', '--json', *LIMIT, 'api').stdout)
    report.check(standing['concurrency'] == standing['held'] == standing['holders'] == 0, 'a limit without permits has none',
                 standing)
    gate = here.fifo('gate')
    process = here.start('run', *words, '--', 'sh', '-c', 'echo begun; exec cat "$1"', 'sh', gate)
    until(process.stdout.fileno(), b'begun')
    standing = json.loads(here.takt('peek', '--json', *words).stdout)
    report.check((standing['concurrency'], standing['held'], standing['holders']) == (3, 1, 1)
                 and standing['limit_tokens'] == 3 and standing['remaining'] == 2 and standing['retry_after_us'] == 0,
                 'permits that are held show', standing)
    done = here.takt('peek', *words)
    report.check(done.stdout.startswith('api: concurrency 3, lease 90s\n') and '  held         1 of 3 in 1 worker\n'
                 in done.stdout, 'and a person sees them', told(done))
    here.open_gate('gate')
    end(process)


def block(report, here):
    done = here.takt('block', '--json', *LIMIT, 'api', '10min')
    standing = json.loads(done.stdout)
    span = standing['blocked_until_us'] - standing['now_us']
    report.check(done.returncode == 0 and span == 10 * 60 * 1000000, 'a block is as long as asked for', told(done))
    report.check(attempt(here, 'api') == 75, 'nothing starts meanwhile')
    shorter = json.loads(here.takt('block', '--json', *LIMIT, 'api', '1s').stdout)
    report.check(shorter['blocked_until_us'] == standing['blocked_until_us'], 'a shorter block changes nothing', shorter)
    done = here.takt('peek', *LIMIT, 'api')
    report.check('  blocked      until ' in done.stdout, 'a person sees the block', told(done))
    report.check(attempt(here, 'api:other') == 0, 'other keys are not blocked')
    reason = 'Wärme; "50%"'
    done = here.takt('block', '--json', *LIMIT, 'api', '20min', '--reason', reason)
    report.check(json.loads(done.stdout)['reason'] == look(here, 'api')['reason'] == reason, 'a block has a reason', told(done))
    report.check(f': {reason}\n' in here.takt('peek', *LIMIT, 'api').stdout, 'which a person sees')
    report.check(look(here, 'api:other')['reason'] is None, 'other keys have none')
    done = here.takt('unblock', '--json', *LIMIT, 'api')
    report.check(done.returncode == 0 and json.loads(done.stdout)['blocked_until_us'] == 0, 'unblock ends it', told(done))


NESTED = '''
limits:
  - {name: domain, rules: [{rate: 5/s}], within: region}
  - {name: region, rules: [{rate: 20/s}], within: trial}
  - {name: trial, rules: [{rate: 1/day}], mode: shadow, within: smtp}
  - {name: smtp, rules: [{rate: 1/day}], concurrency: 1}
'''


def around(report, here):
    """What the limits around one hold up, by their ledgers without a key and with the same one."""
    here.environment['TAKT_POLICY'] = here.write('takt.yaml', NESTED)
    done = here.takt('peek', 'domain:a')
    report.check(done.stdout.endswith('  within       region: free, 0 waiting\n  within       smtp: free, 0 waiting\n'),
                 'a person sees the limits around one that may delay it', told(done))
    here.takt('block', 'region:a', '10min', '--reason', 'moved')
    here.takt('run', 'smtp', '--', 'true')
    lines = here.takt('peek', 'domain:a').stdout.splitlines()[-3:]
    report.check(lines[0] == '  within       region: free, 0 waiting' and
                 lines[1].startswith('  within       region key "a": blocked until ') and lines[1].endswith(': moved') and
                 lines[2].startswith('  within       smtp: retry after ') and lines[2].endswith(', 0 waiting'),
                 'a block with the same key, and when an outer limit has a token', lines)
    holder = here.start('run', 'smtp', '--', 'cat', here.fifo('gate'))
    here.takt('reset', 'smtp')
    ends.until(lambda: here.takt('peek', 'domain').stdout.endswith('  within       smtp: 1 of 1 held\n'),
               lambda: here.takt('peek', 'domain').stdout)
    done = here.takt('peek')
    report.check(done.stdout.count(' all held (smtp)\n') == 3, 'permits of an outer limit that are all held', told(done))
    here.open_gate('gate')
    end(holder)
    done = here.takt('peek', '--json', 'domain')
    report.check(json.loads(done.stdout)['blocked_until_us'] == 0 and 'smtp' not in done.stdout,
                 'JSON tells of one ledger', told(done))


def crowded(report, here):
    """With more keys than a worker has in line, a key that shows no waiters may have some."""
    here.environment['TAKT_POLICY'] = here.write('takt.yaml', 'limits:\n'
        '  - {name: domain, rules: [{rate: 5/s}], within: smtp}\n  - {name: smtp, rules: [{rate: 1/day}]}\n')
    here.takt('run', 'smtp', '--', 'true')
    waiters = [here.start('run', f'domain:{number}', '--', 'true') for number in range(32)]
    until_waiting(here, ['smtp'], 32)
    words = 'waiting      0 in 0 workers; a worker has 32 keys in line, and keeps work of others to itself'
    done = here.takt('peek', 'domain:other')
    report.check(words in done.stdout, 'takt peek says that workers may keep work to themselves', told(done))
    for process in waiters:
        process.terminate()
        end(process)


def penalize(report, here):
    done = here.takt('penalize', '--json', *LIMIT, 'api')
    standing = json.loads(done.stdout)
    report.check(done.returncode == 0 and standing['blocked_until_us'] == 0 and standing['rate_percent'] == 100,
                 'without a time and without adapt nothing happens', told(done))
    done = here.takt('penalize', *LIMIT, 'api', '0s')
    report.check(done.returncode == 0 and 'the limit has no adapt; write a DURATION' in done.stderr,
                 'nor with a Retry-After of 0, and it is said', told(done))
    here.write('takt.yaml', 'limits: [{name: api, rules: [{rate: 2/h}], adapt: {backoff: 40%, recover: 1%/day}}]\n')
    done = here.takt('penalize', 'api:p', '30s', '--reason', '429')
    standing = json.loads(here.takt('peek', '--json', 'api:p').stdout)
    report.check(standing['rate_percent'] == 40 and standing['reason'] == '429'
                 and 0 < standing['blocked_until_us'] - standing['now_us'] <= 30000000 and not done.stderr, 'a penalty brakes and blocks', standing)
    report.check("  rate         40% of the policy's, after penalties\n" in done.stdout, 'a person sees it', told(done))
    report.check(json.loads(here.takt('penalize', '--json', 'api:p', '60s').stdout)['rate_percent'] == 40,
                 'another report of the same event only extends the block')
    standing = json.loads(here.takt('reset', '--json', 'api:p').stdout)
    report.check(standing['rate_percent'] == 100 and standing['reason'] == '429', 'reset takes the brake off', standing)


def reset(report, here):
    taken = [attempt(here, 'api') for _ in range(3)]
    report.check(taken == [0, 0, 75], 'the burst is used up', taken)
    done = here.takt('reset', '--json', *LIMIT, 'api')
    report.check(done.returncode == 0 and json.loads(done.stdout)['remaining'] == 2, 'reset gives it back', told(done))
    report.check(attempt(here, 'api') == 0, 'and work may start')


# Arguments, status, what is said.
REFUSED = [
    (['peek', *LIMIT], 64, 'which limit?'),
    (['peek', *LIMIT, 'api', 'more'], 64, 'unexpected argument: more'),
    (['block', *LIMIT, 'api'], 64, 'the duration is missing'),
    (['block', *LIMIT, 'api', 'soon'], 64, 'DURATION: '),
    (['block', *LIMIT, 'api', '0s'], 64, 'longer than 0'),
    (['block', *LIMIT, 'api', '1s', '--reason', 'two\tparts'], 64, '--reason: the reason has a control character'),
    (['penalize', *LIMIT], 64, 'which limit?'),
    (['penalize', *LIMIT, 'api', '30'], 64, 'DURATION: '),
    (['penalize', *LIMIT, 'api', '30s', 'more'], 64, 'unexpected argument'),
    (['penalize', *LIMIT, 'api', '--reason', 'x' * 121], 64, 'at most 120 bytes'),
    (['peek', *LIMIT, 'api', '--reason', 'x'], 64, 'reason'),
    (['unblock', *LIMIT], 64, 'which limit?'),
    (['reset', *LIMIT], 64, 'which limit?'),
    (['reset', '--jsno', *LIMIT, 'api'], 64, 'did you mean --json?'),
    (['peek', 'api'], 78, 'there is no policy'),
    (['peek', *LIMIT, '-s', 'file:/dev/null/x.mdb', 'api'], 69, '/dev/null'),
]


def busy(report, here):
    """A server that is held up for longer than a worker waits for an answer, which can do something else meanwhile."""
    limits = here.write('limits.yaml', 'limits: [{name: api, rules: [{rate: 1/h}]}]\n')
    with server(here.path) as redis:
        for words in (['peek', *LIMIT, 'api'], ['block', *LIMIT, 'api', '1s'], ['apply', limits]):
            redis.say('CLIENT', 'PAUSE', '2000', 'ALL')
            done = here.takt(*words, '-s', redis.url)
            report.check(done.returncode == 0, f'takt {words[0]} waits for a busy server', told(done))


def refusals(report, here):
    for arguments, status, words in REFUSED:
        done = here.takt(*arguments)
        report.check(done.returncode == status and words in done.stderr and not done.stdout,
                     f'takt {" ".join(arguments)}: {status}', f'wanted {status} and {words!r}\n{told(done)}')
    with open('/dev/full', 'w', encoding='utf-8') as full:
        done = here.takt('peek', *LIMIT, 'api', capture_output=False, stdout=full, stderr=-1)
    report.check(done.returncode == 74 and 'cannot write to standard output' in done.stderr, 'output that is lost: 74',
                 told(done))


def main():
    report = tap.Report()
    for part in (peek, rules, permits, block, around, crowded, penalize, reset, busy, refusals):
        with place() as here:
            part(report, here)
    report.end()


if __name__ == '__main__':
    main()
