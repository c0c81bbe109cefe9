#!/usr/bin/env python3
"""`takt exporter`: what a scraper gets, from a file and from a server, and what happens when the store is away."""

import json
import pathlib
import re
import shutil
import signal
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'workers'))
import openmetrics  # noqa: E402
from command import DEADLINE, SOURCE, end, ends, place, tap, told, until  # noqa: E402

import redis_server  # noqa: E402

MONITORING = SOURCE / 'examples' / 'monitoring'

POLICY = '''limits:
  - {name: mail, rules: [{rate: 20/s, burst: 40}]}
  - {name: api, rules: [{rate: 1/h}], adapt: {}}
  - {name: reports, concurrency: 2}
'''

FAMILIES = ['rate', 'quota', 'remaining', 'waiting', 'workers', 'held', 'permits', 'blocked_seconds', 'rate_percent',
            'backlog_seconds']


def ask(where, path, host='localhost'):
    """Status, type and body. `where` is a unix socket's path, or an address and port."""
    with socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET) as connection:
        connection.settimeout(DEADLINE)
        connection.connect(where)
        connection.sendall(f'GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n'.encode())
        got = b''
        while data := connection.recv(65536):
            got += data
    head, _, body = got.decode().partition('\r\n\r\n')
    return int(head.split(' ')[1]), re.search(r'(?i)content-type: ([^\r]*)', head).group(1), body


def until_scraped(where, seen):
    """Scrapes until seen(families) is true; the exporter looks often. An unchanged text is not read twice."""
    deadline, last = time.monotonic() + DEADLINE, None
    while time.monotonic() < deadline:
        text = ask(where, '/metrics')[2]
        if text != last and seen(openmetrics.parse(text)):
            return openmetrics.parse(text)
        last = text
        time.sleep(0.02)
    raise AssertionError(f'never seen, but:\n{last}')


def value(families, name, limit, key=''):
    """The value, or None if there is no such sample."""
    return families[f'takt_limit_{name}'].samples.get((f'takt_limit_{name}', (('key', key), ('limit', limit))))


def start(here, *words, served=None):
    process = here.start('exporter', '--interval', '100ms', *words)
    until(process.stderr.fileno(), b'serving ' + (served or b'/metrics at unix:'))
    return process


def stop(report, process):
    process.send_signal(signal.SIGTERM)
    end(process)
    report.check(process.returncode == 0, 'SIGTERM ends it', process.returncode)


def figures(report, here, store):
    """All families, of limits with waiters, holders, blocks and penalties."""
    where = str(here.path / 'metrics.sock')
    here.write('takt.yaml', POLICY)
    process = start(here, '--listen', f'unix:{where}')
    here.takt('run', 'api', '--', 'true')
    holder = here.start('run', 'reports', '--', 'cat', stdin=-1)
    waiter = here.start('run', 'api', '--', 'true')
    here.takt('penalize', 'api', '1min')
    here.takt('block', 'mail:ann', '1h')
    families = until_scraped(where, lambda got: value(got, 'waiting', 'api') == 1 and value(got, 'held', 'reports') == 1 and
                             value(got, 'rate_percent', 'api') == 50)
    report.check(set(families) >= {f'takt_limit_{name}' for name in FAMILIES} and openmetrics.value(families, 'takt_up') == 1,
                 f'all families ({store})', sorted(families))
    report.check([value(families, name, 'reports') for name in ('held', 'permits')] == [1, 2] and
                 value(families, 'held', 'mail') is None, 'permits where a limit has them', families['takt_limit_held'].samples)
    report.check(value(families, 'workers', 'api') == 1 and 0 < value(families, 'blocked_seconds', 'api') <= 60 and
                 value(families, 'blocked_seconds', 'mail') == 0, 'who waits, and for how long nothing starts')
    report.check(value(families, 'rate_percent', 'api') == 50 and
                 abs(value(families, 'backlog_seconds', 'api') - 7200) < 1, 'half the rate takes twice as long',
                 families['takt_limit_backlog_seconds'].samples)
    report.check(value(families, 'quota', 'mail') == 20 and value(families, 'remaining', 'mail') == 40 and
                 value(families, 'quota', 'reports') is None, 'quotas of limits that have rules')
    families = until_scraped(where, lambda got: value(got, 'blocked_seconds', 'mail', 'ann'))
    report.check(3500 < value(families, 'blocked_seconds', 'mail', 'ann') <= 3600, 'keys come by themselves')
    for _ in range(5):
        here.takt('run', 'mail', '--', 'true')
    report.check(until_scraped(where, lambda got: (value(got, 'rate', 'mail') or 0) > 0), 'a rate, when something starts')
    holder.stdin.close()
    end(holder)
    waiter.kill()
    ends.wait(waiter)
    stop(report, process)
    report.check(not pathlib.Path(where).exists(), 'its socket goes with it')


def store_away(report, here):
    """A store that does not answer is told as such; what is not known is not told."""
    where = str(here.path / 'metrics.sock')
    here.write('takt.yaml', POLICY)
    with redis_server.server(here.path) as server:
        here.environment['TAKT_STORE'] = server.url
        process = start(here, '--listen', f'unix:{where}', 'mail')
        families = until_scraped(where, lambda got: value(got, 'remaining', 'mail') == 40)
        report.check(value(families, 'remaining', 'api') is None, 'only what was named')
        server.stop()
        families = until_scraped(where, lambda got: openmetrics.value(got, 'takt_up') == 0)
        report.check(not families['takt_limit_remaining'].samples, 'no figures from before', families)
        server.start()
        until_scraped(where, lambda got: openmetrics.value(got, 'takt_up') == 1)
        report.check(True, 'it is up when the store is back')
        stop(report, process)


def rules(report, here):
    """What each rule has left, in its unit."""
    where = str(here.path / 'metrics.sock')
    here.write('takt.yaml', '''limits:
  - name: llm
    rules:
      - {rate: 5/h, burst: 5, counts: requests}
      - {rate: 9000/h, burst: 800, counts: input_tokens}
      - {rate: 900/h, burst: 80, counts: output_tokens, default_amount: 20}
  - name: plain
    rules: [{rate: 5/h}]
''')
    here.takt('run', 'llm', '--cost', 'input_tokens=300', '--', 'true')
    process = start(here, '--listen', f'unix:{where}')
    families = until_scraped(where, lambda got: value(got, 'remaining', 'llm') is not None)

    def of(name):
        return sorted((dict(labels).get('rule'), dict(labels).get('unit'), dict(labels)['limit'], figure)
                      for (_, labels), figure in families[name].samples.items())

    report.check([(rule, unit, limit) for rule, unit, limit, _ in of('takt_rule_limit')] ==
                 [('1', 'requests', 'llm'), ('2', 'input_tokens', 'llm'), ('3', 'output_tokens', 'llm')] and
                 [figure for *_, figure in of('takt_rule_limit')] == [5, 800, 80], 'rules by unit', of('takt_rule_limit'))
    left = [figure for *_, figure in of('takt_rule_remaining')]
    report.check(left[0] == 4 and 500 <= left[1] < 510 and 60 <= left[2] < 62, 'what each has left', left)
    resets = [figure for *_, figure in of('takt_rule_reset_seconds')]
    report.check(600 < resets[0] <= 720 and 100 < resets[1] <= 120 and 60 < resets[2] <= 80, 'until it is unused', resets)
    stop(report, process)


def without_policy(report, here):
    """What the store knows."""
    where = str(here.path / 'metrics.sock')
    here.takt('run', '--rate', '1/h', 'zz:k', '--', 'true')
    process = start(here, '--listen', f'unix:{where}')
    families = until_scraped(where, lambda got: value(got, 'remaining', 'zz', 'k') == 0)
    report.check(abs(value(families, 'quota', 'zz', 'k') - 1 / 3600) < 1e-9, 'without a policy: what is in use')
    stop(report, process)


def keys(report, here):
    """Whatever a key is, the text can be read; its quota is its own."""
    where = str(here.path / 'metrics.sock')
    here.write('takt.yaml', '''limits:
  - name: api
    rules: [{rate: 2/h}]
    overrides: [{key: gold, rules: [{rate: 8/h, burst: 3}]}, {key: free, unlimited: true}]
''')
    for key in ('gold', 'other', 'x\udcff"\n', 'é'):
        here.takt('run', f'api:{key}', '--', 'true')
    process = start(here, '--listen', f'unix:{where}')
    families = until_scraped(where, lambda got: value(got, 'quota', 'api', 'gold'))
    report.check(abs(value(families, 'quota', 'api', 'gold') - 8 / 3600) < 1e-9 and
                 abs(value(families, 'quota', 'api', 'other') - 2 / 3600) < 1e-9, 'the quota of an override',
                 families['takt_limit_quota'].samples)
    report.check(value(families, 'remaining', 'api', 'x\ufffdff"\n') == 0 and
                 value(families, 'remaining', 'api', 'é') == 0, 'keys of any bytes', families['takt_limit_remaining'].samples)
    stop(report, process)
    process = start(here, '--listen', f'unix:{where}', 'api:free')
    families = until_scraped(where, lambda got: openmetrics.value(got, 'takt_up') == 1)
    report.check(not families['takt_limit_quota'].samples and not families['takt_limit_backlog_seconds'].samples,
                 'an unlimited key has no quota', families['takt_limit_quota'].samples)
    stop(report, process)


def forgets(report, here, server):
    """A key that is at rest again, and limits that no key is in use of, go; the limits of the policy stay."""
    running = []
    here.write('takt.yaml', 'limits: [{name: mail, rules: [{rate: 1/s}], concurrency: 1}]\n')
    for name, store in (('file', here.environment['TAKT_STORE']), ('Redis', server.url)):
        where = str(here.path / f'{name}.sock')
        here.takt('block', '-s', store, 'mail:blocked', '1h')
        process = start(here, '-s', store, '--listen', f'unix:{where}')
        # it is in use for as long as the exporter, which lists the keys every ten seconds, needs to show it
        running.append((name, where, process, here.start('run', '-s', store, 'mail:once', '--', 'cat', stdin=-1)))
    for _, where, _, holder in running:
        until_scraped(where, lambda got: value(got, 'rate', 'mail', 'once') is not None)
        holder.stdin.close()
        end(holder)
    for name, where, process, _ in running:
        families = until_scraped(where, lambda got: value(got, 'remaining', 'mail', 'once') is None)
        report.check(value(families, 'blocked_seconds', 'mail', 'blocked') > 3500 and
                     value(families, 'remaining', 'mail') == 1 and openmetrics.value(families, 'takt_up') == 1,
                     f'a key at rest goes, others stay ({name})', families['takt_limit_remaining'].samples)
        stop(report, process)
    report.check('once' not in server.say('KEYS', '*') and 'blocked' in server.say('KEYS', '*'),
                 'and the store has forgotten it', server.say('KEYS', '*'))


def addresses(report, here):
    here.write('takt.yaml', POLICY)
    port = redis_server.free_port()
    process = start(here, '--listen', f'127.0.0.1:{port}', served=f'http://127.0.0.1:{port}/metrics'.encode())
    code, kind, body = ask(('127.0.0.1', port), '/metrics', host='metrics.example.org')
    report.check(code == 200 and kind.startswith('application/openmetrics-text') and body.endswith('# EOF\n'),
                 'an address and a port, by any name', body)
    code, _, body = ask(('127.0.0.1', port), '/')
    report.check(code == 404 and '/metrics' in body, 'elsewhere: where to ask', body)
    with socket.create_connection(('127.0.0.1', port)) as connection:
        connection.settimeout(DEADLINE)
        connection.sendall(b'GET /metrics HTTP/1.1\r\nX: ' + b'x' * 5000)
        report.check(connection.recv(4096).startswith(b'HTTP/1.1 431 '), 'a head that is too long')
    done = here.takt('exporter', '--listen', f'127.0.0.1:{port}')
    report.check(done.returncode == 71 and f'127.0.0.1:{port}' in done.stderr, 'a port that is taken', told(done))
    stop(report, process)
    process = start(here, '--listen', str(port), served=f'http://localhost:{port}/metrics'.encode())
    report.check(ask(('127.0.0.1', port), '/metrics')[0] == 200 and
                 ask(('127.0.0.1', port), '/metrics', host='evil.example.org')[0] == 421,
                 'a port of the loopback, by its own names only')
    stop(report, process)
    for wrong in ('0', '65536', 'localhost:9465', '1.2.3.4', '[::1', '[::1]', '1.2.3.4:', '::1:9465', ''):
        done = here.takt('exporter', '--listen', wrong)
        report.check(done.returncode == 64 and '0.0.0.0:9465' in done.stderr, f'no address: {wrong!r}', told(done))
    for words, status in ((['--interval', '1ms'], 64), (['nolimit'], 64), (['-p', 'none.yaml'], 78)):
        done = here.takt('exporter', *words)
        report.check(done.returncode == status and done.stderr, f'{words} is refused', told(done))


def monitoring(report, here):
    """The dashboard and the alert rules use figures that there are, and Prometheus takes them."""
    where = str(here.path / 'metrics.sock')
    here.write('takt.yaml', POLICY)
    process = start(here, '--listen', f'unix:{where}')
    text = ask(where, '/metrics')[2]
    stop(report, process)
    known = set(openmetrics.parse(text))
    dashboard = json.loads((MONITORING / 'dashboard.json').read_text(encoding='utf-8'))
    alerts = (MONITORING / 'alerts.yml').read_text(encoding='utf-8')
    asked = ' '.join(target['expr'] for panel in dashboard['panels'] for target in panel['targets'])
    used = set(re.findall(r'takt_\w+', asked)) | {name for line in re.findall(r'expr: (.*)', alerts)
                                                  for name in re.findall(r'takt_\w+', line)}
    report.check(len(used) > 8 and used <= known, 'dashboard and alerts use figures that there are', used - known)
    if not shutil.which('promtool'):
        report.skip('promtool takes the rules and the text', 'there is no promtool; Debian has it in "prometheus"')
        return
    done = ends.run(['promtool', 'check', 'rules', str(MONITORING / 'alerts.yml')], text=True, capture_output=True)
    report.check(done.returncode == 0, 'promtool takes the rules', told(done))
    # promtool reads the older text format, which has no `info` and no end mark.
    done = ends.run(['promtool', 'check', 'metrics'], text=True, capture_output=True,
                    input=re.sub(r'(?m)^# (EOF|UNIT .*)\n', '', text).replace('exporter info', 'exporter_info gauge')
                    .replace('HELP takt_exporter ', 'HELP takt_exporter_info '))
    report.check(done.returncode == 0, 'and the text', told(done))


def main():
    report = tap.Report()
    with place() as here:
        figures(report, here, 'file')
    with place() as here, redis_server.server(here.path) as server:
        here.environment['TAKT_STORE'] = server.url
        figures(report, here, 'Redis')
    with place() as here, redis_server.server(here.path) as server:
        forgets(report, here, server)
    for part in (store_away, rules, without_policy, keys, addresses, monitoring):
        with place() as here:
            part(report, here)
    report.end()


main()
