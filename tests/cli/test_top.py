#!/usr/bin/env python3
"""`takt top`: on a terminal of the test's own, which is a real one to it, and without any."""

import json
import re
import shutil
import signal
import termios

from command import TAKT, end, ends, place, tap, told
from terminal import terminal

from redis_server import Server, server

POLICY = """
namespace: demo
revision: 7
limits:
  - {name: mail, rules: [{rate: 50/s}], adapt: {}}
  - {name: api, rules: [{rate: 20/min, burst: 5}]}
  - {name: reports, concurrency: 3, lease: 90s}
"""
TOP = [TAKT, 'top', '--interval', '100ms']


def peek(here, *words):
    return json.loads(here.takt('peek', '--json', *words).stdout)


def jobs(count):
    return ''.join(f'{number}\n' for number in range(count))


def row(screen, name):
    """A row without the mark of the chosen one."""
    return re.sub(r'^[> ] ', '', screen.line_of(name + ' '))


def shown(report, here):
    here.write('takt.yaml', POLICY)
    gate = here.fifo('gate')
    holder = here.start('run', 'reports', '--', 'cat', gate)
    with terminal(here, TOP) as screen:
        head = re.compile(r'takt top  namespace demo, policy revision 7, store file:.* \d\d:\d\d:\d\d$')
        screen.until(lambda seen: head.match(seen.text().split('\n')[0]), 'the head')
        report.check(True, 'a head of the whole line')
        screen.until(lambda seen: 'LIMIT' in seen.text().split('\n')[2] and '0.00 of 50/s' in row(seen, 'mail')
                     and re.match('api .*0.00 of 20/min', row(seen, 'api')) and '1/3' in row(seen, 'reports'),
                     'all rows')
        report.check(True, 'a row for each limit')
        screen.until(lambda seen: seen.chosen().startswith('> mail ') and 'mail: 50/s' in seen.text()
                     and '  not blocked' in seen.text(), 'the chosen one')
        report.check(True, 'more about the chosen one')
        screen.type('\x1b[B')
        screen.until(lambda seen: seen.chosen().startswith('> api '), 'the arrow to choose')
        screen.type('jjj')
        screen.until(lambda seen: seen.chosen().startswith('> reports '), 'j to choose')
        screen.until_text('1 of 3 held in 1 worker;')
        screen.type('k\x1bOAk')
        screen.until(lambda seen: seen.chosen().startswith('> mail '), 'k and the other arrow')
        screen.type('?')
        screen.until_text('Esc cancels')
        screen.type('x')
        screen.until(lambda seen: row(seen, 'reports'), 'the rows again')
        report.check(True, 'keys choose, and ? tells them')
        screen.type('q')
        report.check(screen.end() == 0 and screen.is_as_before(), 'q ends it, and the terminal is as it was')
    here.open_gate('gate')
    end(holder)


# Columns, lines, and what is in sight then.
SIZES = [(40, 10, 'mail'), (20, 5, 'mail'), (100, 30, 'limit-16'), (10, 2, 'q quit'), (10, 1, 'takt top')]


def narrow(report, here):
    more = (f'  - {{name: limit-{number}, rules: [{{rate: 1/s}}]}}\n' for number in range(30))
    here.write('takt.yaml', POLICY + ''.join(more))
    key = 'x\x1b[31m\x07' + 'y' * 70
    with terminal(here, TOP + ['mail', f'mail:{key}', f'mail:{"日" * 30}']) as screen:
        screen.until_text('mail:x?[31m?yy')
        screen.until_text('mail:日日')
        report.check(True, 'names of others are harmless, and cut', screen.screen.text())
    # No second look, so that no frame of the size before comes after one of the new size was asked for.
    with terminal(here, [TAKT, 'top', '--interval', '1min']) as screen:
        screen.until(lambda seen: 'free' in row(seen, 'limit-0'), 'the looks')
        for columns, lines, word in SIZES:
            screen.resize(columns, lines)
            screen.until_text(word)
            screen.until(lambda seen: seen.row == seen.size - 1 and seen.column > 0 and not seen.style, 'the whole frame')
            report.check(True, f'it goes into {columns}x{lines}')
    with terminal(here, [TAKT, 'top', '--interval', '3s']) as screen:
        screen.until_text('limit-9 ')
        report.check('limit-29' not in screen.screen.text(), 'not all limits are on the screen')
        screen.type('j' * 40)
        screen.until(lambda seen: seen.chosen().startswith('> limit-29 ') and 'free' in seen.chosen(), 'the last limit')
        report.check('mail' not in screen.screen.text().split('\n')[3], 'those before went up', screen.screen.text())


def blocked(report, here):
    here.write('takt.yaml', POLICY)
    with terminal(here, TOP) as screen:
        screen.until_text('reports')
        screen.type('jb')
        screen.until_text('block api for (10min WHY): _')
        screen.type('10minx\x7f Wärme')
        screen.until_text('block api for (10min WHY): 10min Wärme_')
        screen.type('\x1b')
        screen.until_text('q quit')
        report.check(peek(here, 'api')['blocked_until_us'] == 0, 'Esc cancels')
        screen.type('bsoon\r')
        screen.until(lambda seen: '"soon"' in seen.second() and 'WHY): soon_' in seen.text(), 'what is wrong')
        screen.type('\x1510min ' + 'z' * 121 + '\r')
        screen.until_text('at most 120 bytes')
        report.check(peek(here, 'api')['blocked_until_us'] == 0, 'what cannot be meant is refused',
                     screen.screen.text())
        screen.type('\x1510min Wärme; "50%"\r')
        screen.until(lambda seen: 'blocked 9m5' in row(seen, 'api'), 'the block')
        screen.until_text('  Wärme; "50%"')
        standing = peek(here, 'api')
        report.check(0 < standing['blocked_until_us'] - standing['now_us'] <= 600 * 1000000
                     and standing['reason'] == 'Wärme; "50%"', 'b blocks, with a reason', standing)
        report.check(peek(here, 'mail')['blocked_until_us'] == 0, 'and no other limit')
        here.takt('block', 'mail', '1h', '--reason', 'by another')
        here.takt('penalize', 'mail')
        screen.until(lambda seen: re.search('50% blocked (59m|1h)', row(seen, 'mail')), "another's block and penalty")
        screen.type('u')
        screen.until(lambda seen: 'blocked' not in row(seen, 'api'), 'the end of the block')
        screen.until_text('api is not blocked')
        standing = peek(here, 'api')
        report.check(standing['blocked_until_us'] == 0 and peek(here, 'mail')['reason'] == 'by another',
                     'u unblocks it alone', standing)


NESTED = '''
limits:
  - {name: domain, rules: [{rate: 5/s}], within: smtp}
  - {name: smtp, rules: [{rate: 1/h, burst: 1}]}
'''


def around(report, here):
    """A limit that is free within one that is not."""
    here.write('takt.yaml', NESTED)
    here.takt('run', 'smtp', '--', 'true')
    with terminal(here, TOP) as screen:
        screen.until(lambda seen: re.search(r'next (1h|59m\d+s) \(s', row(seen, 'domain')), 'what comes later')
        screen.until(lambda seen: re.search(r'  not blocked; smtp: next (1h|59m)', seen.text()), 'in the details')
        here.takt('block', 'smtp', '2h', '--reason', 'down for work')
        screen.until(lambda seen: re.search(r'blocked (2h|1h59m) \(', row(seen, 'domain')), 'a block')
        screen.until(lambda seen: re.search(r'  smtp: blocked until .*:\s+down for work', seen.text()), 'in the details')
        report.check(True, 'a limit shows what one around it holds up')
    done = here.takt('peek')
    report.check(re.search(r'\ndomain .* blocked (2h|1h59m) \(smtp\): down for work\n', done.stdout), 'also takt peek', told(done))
    done = here.takt('top', '--once', '--interval', '100ms', 'domain:a', 'smtp:a')
    report.check(done.stdout.count(' free\n') == 2, 'a block of another key holds up nothing', told(done))
    here.takt('block', 'smtp:a', '1h')
    done = here.takt('top', '--once', '--interval', '100ms', 'domain:a', 'smtp:a')
    report.check(re.search(r'blocked (1h|59m\d+s) \(smtp:a\)\n', done.stdout), 'one of the same key does', told(done))


def rates(report, here):
    """The screen watches; its final counts are those of a map."""
    here.write('takt.yaml', POLICY.replace('50/s', '20/s'))
    with terminal(here, TOP) as screen:
        screen.until(lambda seen: '0.00 of 20/s' in row(seen, 'mail'), 'the first looks')
        here.takt('map', 'mail', '-j', '4', '-q', '--', 'true', input=jobs(60))
        done = here.takt('top', '--json', '--interval', '100ms', 'mail', 'reports')
        mail, reports = map(json.loads, done.stdout.splitlines())
        report.check(mail['taken'] == 60 and mail['watched_since_us'] < mail['now_us'], 'each job is counted once',
                     told(done))
        report.check((mail['quota_tokens'], mail['quota_period_us']) == (20, 1000000) and mail['limit'] == 'mail'
                     and mail['rate_per_s'] <= 60 and reports['rate_per_s'] == 0
                     and reports['quota_tokens'] is None, 'JSON tells rate and quota', told(done))
        running = here.start('map', 'mail', '-j', '40', '-q', '--', 'true', stdin=here.path.joinpath(
            here.write('jobs', jobs(2000))).open('rb'))
        screen.until(lambda seen: re.match(r'mail +(1[89]|2[012])(\.\d+)? of 20/s +######', row(seen, 'mail'))
                     and re.search(r' \d+ in 1 ', row(seen, 'mail')), 'the rate that is the quota')
        report.check(True, 'the rate shows while a map runs')
        running.terminate()
        end(running)
        screen.until(lambda seen: '0.00 of 20/s' in row(seen, 'mail'), 'a rate of nothing')
        report.check(True, 'and falls when it has ended')


def several_rules(report, here):
    here.write('takt.yaml', POLICY + '  - name: llm\n    rules: [{rate: 5/h, burst: 5, counts: requests}, '
               '{rate: 900/h, burst: 800, counts: tokens}]\n')
    here.takt('run', '--cost', 'tokens=300', 'llm', '--', 'true')
    with terminal(here, TOP + ['llm']) as screen:
        screen.until_text('4 of 5 requests, 500 of 800 tokens left, full in')
        report.check(True, 'what each rule has left, in its unit')


def ended(report, here):
    here.write('takt.yaml', POLICY)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV):
        with terminal(here, TOP) as screen:
            screen.until_text('reports')
            screen.process.send_signal(number)
            status = screen.end()
            report.check(status == -number and screen.is_as_before(),
                         f'{number.name} ends it, and the terminal is as it was', f'{status} {screen.screen.modes}')
    with terminal(here, TOP) as screen:
        screen.until_text('reports')
        screen.type('\x03')
        report.check(screen.end() == 0 and screen.is_as_before(), 'so does Ctrl-C')
    with terminal(here, TOP) as screen:
        screen.until_text('reports')
        screen.set_size(1000, 1000)
        screen.type('?x' * 200)  # frames that nobody reads
        screen.process.send_signal(signal.SIGTERM)
        status = ends.wait(screen.process)
        report.check(status == -signal.SIGTERM and termios.tcgetattr(screen.slave) == screen.before,
                     'it ends while its terminal takes nothing', status)
    with terminal(here, [TAKT, 'top', '--interval', '1min']) as screen:
        screen.until(lambda seen: all('free' in row(seen, name) for name in ('mail', 'api', 'reports')), 'the looks')
        screen.fill()
        screen.type_until_read('q')
        report.check(screen.end() == 0 and screen.is_as_before(), 'a terminal that lags behind is as it was, too',
                     screen.screen.modes)
    script = f'{" ".join(TOP)}; echo stopped; read line; fg >/dev/null; echo over $?'
    with terminal(here, ['sh', '-mc', script]) as screen:
        screen.until_text('reports')
        screen.type('\x1a')
        screen.until(lambda seen: 'stopped' in seen.plain, 'Ctrl-Z')
        report.check(screen.is_as_before(), 'Ctrl-Z stops it, and the terminal is as it was', screen.screen.modes)
        screen.type('\n')
        screen.until(lambda seen: seen.modes['1049'] and 'reports' in seen.text(), 'the screen again')
        screen.type('q')
        report.check(screen.end() == 0 and 'over 0' in screen.screen.plain and screen.is_as_before(),
                     'it goes on when continued')


def lost(report, here):
    here.write('takt.yaml', POLICY)
    running = Server(here.path, 'redis', {'port': '0', 'save': '', 'appendonly': 'no'}, None)
    try:
        here.environment['TAKT_STORE'] = running.url
        with terminal(here, TOP, columns=160) as screen:
            screen.until(lambda seen: 'free' in row(seen, 'mail'), 'looks')
            running.stop()
            why = '(cannot connect|it closed the connection|the connection broke)'  # how far a look had come
            screen.until(lambda seen: re.match(f'! no answer since .*: {why}', seen.second())
                         and 'free' in row(seen, 'mail'), 'trouble')
            report.check(True, 'a store that is lost shows', screen.screen.text())
            screen.type('b1min\r')
            screen.until_text('mail is unchanged: ')
            report.check(True, 'and a key says that it did nothing', screen.screen.text())
            shutil.rmtree(here.path / 'redis')
            running = Server(here.path, 'redis', {'port': '0', 'save': '', 'appendonly': 'no'}, None)
            screen.until(lambda seen: not seen.second(), 'the end of trouble')
            report.check(peek(here, 'mail')['blocked_until_us'] == 0, 'it goes on when the store is there again')
            late = re.compile('mail is unchanged|the store answers again')  # as on a busy machine
            while not re.search(r'blocked \d+s', row(screen.screen, 'mail')):
                screen.type('k')
                screen.until(lambda seen: not late.search(seen.text()), 'the key')
                screen.type('b1min\r')
                screen.until(lambda seen: re.search(r'blocked \d+s', row(seen, 'mail')) or late.search(seen.text()),
                             'a block there')
            running.stop()
            screen.type('q')
            status = screen.end()
            report.check(status == 0 and screen.is_as_before(), 'it ends while the store is lost',
                         f'{status} {screen.screen.modes}')
        done = here.takt('top', '--once')
        report.check(done.returncode == 69 and 'no answer' in done.stdout and done.stderr.startswith('takt top: '),
                     'without a store: 69', told(done))
    finally:
        running.stop()


def followed(report, here):
    with server(here.path) as running:
        here.environment['TAKT_STORE'] = running.url
        here.write('first.yaml', 'limits: [{name: one, rules: [{rate: 1/s}]}]\n')
        here.write('second.yaml', 'limits: [{name: one, rules: [{rate: 9/s}]}, {name: two, rules: [{rate: 1/s}]}]\n')
        here.takt('apply', 'first.yaml')
        here.write('takt.yaml', 'policy: store\n')
        with terminal(here, TOP, columns=120) as screen:
            screen.until(lambda seen: ' of 1/s' in row(seen, 'one') and 'version 1,' in seen.text(), 'the limit')
            report.check(True, 'the head tells the version')
            here.takt('apply', 'second.yaml')
            screen.until_text('version 2,')
            screen.until(lambda seen: ' of 9/s' in row(seen, 'one') and row(seen, 'two'), 'the new limits')
            report.check(True, 'a policy that is applied is followed')


def printed(report, here):
    here.write('takt.yaml', POLICY)
    here.takt('block', 'api', '1h', '--reason', 'why\u00a0not')
    done = here.takt('top', '--interval', '100ms')
    lines = done.stdout.splitlines()
    report.check(done.returncode == 0 and len(lines) == 4 and lines[0].split()[0] == 'LIMIT'
                 and '\x1b' not in done.stdout and lines[1].startswith('mail       0.00 of 50/s ')
                 and re.search(r'blocked 59m5\ds: ', lines[2]),
                 'without a terminal: a table', told(done))
    done = here.takt('top', '--json', '--interval', '100ms', 'api', 'mail:ä')
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    report.check([(each['limit'], each['key']) for each in objects] == [('api', None), ('mail', 'ä')]
                 and objects[0]['reason'] == 'why\u00a0not' and objects[1]['taken'] == 0,
                 'JSON: an object for each', told(done))
    with terminal(here, [TAKT, 'top', '--once', '--interval', '100ms', '--rate', '5/s', 'some', 'some:a']) as screen:
        status = screen.end()
        report.check(status == 0 and screen.screen.plain.count(' of 5/s') == 2 and screen.is_as_before(),
                     '--once prints on a terminal as well', screen.screen.plain)
    with terminal(here, [TAKT, 'top', '--interval', '100ms'], TERM='dumb') as screen:
        report.check(screen.end() == 0 and 'LIMIT' in screen.screen.plain, 'a terminal that can do nothing: a table')


def use(here):
    """Limits and keys without a policy: one is used up, one is half used, one is little used."""
    for limit, rate, burst, cost in (('mail:full', '2/h', 2, 2), ('mail:half', '2/h', 2, 1), ('api', '8/day', 8, 1)):
        here.takt('run', '--rate', rate, '--burst', burst, '--cost', cost, limit, '--', 'true')


def names(done):
    return [line.split()[0] for line in done.stdout.splitlines()[1:]]


def listed(report, here):
    """Without names: what the store knows, the busiest first."""
    done = here.takt('peek')
    report.check(done.returncode == 0 and not done.stdout and 'nothing is in use in namespace default of file:'
                 in done.stderr, 'an empty store has nothing', told(done))
    use(here)
    for command in (['peek'], ['top', '--once', '--interval', '100ms']):
        done = here.takt(*command)
        report.check(done.returncode == 0 and names(done) == ['mail:full', 'mail:half', 'api']
                     and re.search(r'^mail:full .* of 2/h .* next 29m', done.stdout, re.MULTILINE)
                     and ' of 8/day ' in done.stdout, f'takt {command[0]} without a policy', told(done))
    done = here.takt('peek', '--json')
    found = [json.loads(line) for line in done.stdout.splitlines()]
    report.check([(each['limit'], each['key'], each['remaining'], each['watched_since_us'] > 0) for each in found]
                 == [('mail', 'full', 0, True), ('mail', 'half', 1, True), ('api', None, 7, True)],
                 'as objects', told(done))
    with terminal(here, TOP) as screen:
        screen.until(lambda seen: ', no policy, store file:' in seen.text() and seen.chosen().startswith('> mail:full ')
                     and '0.00 of 8/day' in row(seen, 'api'), 'the list')
        here.takt('run', '--rate', '1/h', 'late:one', '--', 'true')
        screen.until(lambda seen: row(seen, 'late:one') and seen.chosen().startswith('> mail:full '), 'what comes later')
        report.check(True, 'a screen lists them, and what comes later')
        screen.type('q')
        report.check(screen.end() == 0 and screen.is_as_before(), 'q ends it')
    here.write('takt.yaml', 'limits:\n  - {name: idle, rules: [{rate: 1/s}]}\n  - {name: mail, rules: [{rate: 2/h, burst: 2}]}\n')
    done = here.takt('peek')
    report.check(names(done) == ['idle', 'mail', 'mail:full', 'mail:half'],
                 'with a policy: its limits, then the keys in use', told(done))
    with terminal(here, TOP) as screen:
        screen.until(lambda seen: row(seen, 'idle') and row(seen, 'mail:half'), 'the keys')
        report.check(True, 'also on a screen')
        screen.type('q')
        screen.end()
    here.write('takt.yaml', 'limits: [{name: mail, key_hash: true, rules: [{rate: 2/h, burst: 2}]}]\n')
    here.environment['TAKT_KEY_SECRET'] = 'a secret of some length'
    here.takt('run', 'mail:secret', '--', 'true')
    objects = [json.loads(line) for line in here.takt('peek', '--json').stdout.splitlines()]
    hashes = [each for each in objects if re.fullmatch('#[0-9a-f]{32}', each['key'] or '')]
    report.check(len(hashes) == 1 and hashes[0]['remaining'] == 1, 'a key that is stored as a hash is listed as that',
                 objects)


def listed_of_server(report, here):
    with server(here.path) as running:
        here.environment['TAKT_STORE'] = running.url
        use(here)
        here.takt('run', '--rate', '1/h', 'odd:a b/{é}%', '--', 'true')
        here.takt('block', '--rate', '1/s', 'blocked', '1h', '--reason', 'why')
        gate = here.fifo('gate')
        holder = here.start('run', '--concurrency', '2', 'held', '--', 'cat', gate)
        ends.until(lambda: json.loads(here.takt('peek', '--json', '--concurrency', '2', 'held').stdout)['held'] == 1,
                   'the permit is never held')
        done = here.takt('peek', '--json')
        found = {f'{each["limit"]}:{each["key"]}': each for each in map(json.loads, done.stdout.splitlines())}
        report.check(set(found) == {'mail:full', 'mail:half', 'api:None', 'odd:a b/{é}%', 'blocked:None', 'held:None'}
                     and found['mail:full']['remaining'] == 0 and found['mail:half']['remaining'] == 1
                     and found['held:None']['held'] == 1 and found['blocked:None']['reason'] == 'why',
                     'of a server: the same', told(done))
        here.open_gate('gate')
        end(holder)
        before = running.say('GET', 'takt:{default/api/}')
        done = here.takt('top', '--once', '--interval', '100ms')
        after = running.say('GET', 'takt:{default/api/}')
        report.check('mail:full' in done.stdout and after.startswith(before.rstrip('\n"')),
                     'looking leaves the rules as they are', f'{before}\n{after}\n{told(done)}')
        running.say('ACL', 'SETUSER', 'default', '-scan')
        done = here.takt('peek')
        report.check(done.returncode == 69 and 'NOPERM' in done.stderr, 'a user who may not scan: 69', told(done))
        here.write('takt.yaml', 'limits: [{name: mail, rules: [{rate: 2/h, burst: 2}]}]\n')
        done = here.takt('peek')
        report.check(done.returncode == 0 and names(done) == ['mail'] and 'keys are not listed: ' in done.stderr,
                     'with a policy its limits, and a word', told(done))


def widths(report, here):
    here.write('takt.yaml', 'limits: [{name: fast, rules: [{rate: 100/s, burst: 100}]}]\n')
    here.takt('block', 'fast', '50min')
    with terminal(here, TOP, columns=60) as screen:
        screen.until(lambda seen: re.search(r'^fast +0\.00 of 100/s +0 +blocked 49m5\ds$', row(seen, 'fast').rstrip()),
                     'a narrow row')
        report.check(True, '60 columns lose nothing', screen.screen.text())
        screen.type('q')
        screen.end()
    here.takt('unblock', 'fast')
    with terminal(here, TOP, columns=120) as screen:
        screen.until(lambda seen: 'LAST MINUTES' in seen.text() and '\u2581' in row(seen, 'fast'), 'what was')
        report.check(True, 'a wide one shows the last minutes')
        screen.type('q')
        screen.end()


# Arguments, status, what is said.
REFUSED = [
    (['nope'], 64, 'there is no limit "nope"; there are: mail, api, reports'),
    (['mial:x'], 64, 'did you mean "mail"?'),
    (['--interval', '99ms'], 64, '--interval is from 100ms to 1min, not 99ms'),
    (['--interval', 'soon'], 64, '--interval'),
    (['--rate', '5/s'], 64, 'name a limit'),
    (['--rate', '5/s', 'one', 'two'], 64, 'there is no limit "two"'),
    (['--onec'], 64, 'did you mean --once?'),
    (['-p', 'none.yaml'], 78, 'none.yaml'),
]


def refusals(report, here):
    here.write('takt.yaml', POLICY)
    for arguments, status, words in REFUSED:
        done = here.takt('top', *arguments)
        report.check(done.returncode == status and words in done.stderr and not done.stdout,
                     f'takt top {" ".join(arguments)}: {status}', f'wanted {status} and {words!r}\n{told(done)}')


def main():
    report = tap.Report()
    for part in (shown, narrow, blocked, around, rates, several_rules, ended, lost, followed, printed, listed, listed_of_server,
                 widths, refusals):
        with place() as here:
            part(report, here)
    report.end()


if __name__ == '__main__':
    main()
