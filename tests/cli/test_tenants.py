#!/usr/bin/env python3
"""
Tenants of one limit, by the command and over real stores: the work of a small tenant is done in turns with that of a big
one, however many processes that has; weights; and a limit without `fair` takes the same command lines.
"""

import json
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'workers'))
import openmetrics  # noqa: E402
from command import DEADLINE, TAKT, end, ends, place, tap, told, until, until_waiting  # noqa: E402
from redis_server import server  # noqa: E402
from terminal import terminal  # noqa: E402

POLICY = '''
limits:
  - {name: fair, rules: [{rate: 5/s}], fair: tenant}
  - {name: heavy, rules: [{rate: 5/s}], fair: tenant, weights: {small: 3}}
  - {name: permits, rules: [{rate: 1000/s}], concurrency: 2, fair: tenant}
  - {name: slow, rules: [{rate: 1/day}], fair: tenant, weights: {small: 3}}
  - {name: plain, rules: [{rate: 1000/s}]}
  - {name: server, rules: [{rate: 1/day}]}
  - {name: domain, rules: [{rate: 1/day}], within: server}
'''
MANY = 40   # tenants that wait, of which the exporter tells 32
BIG = 6    # processes of the big tenant, with 64 waiters each
SMALL = 10  # jobs of the small one
TRIES = 3   # a process that the machine does not run in time loses slots to the big tenant


def slots(here, name):
    return sorted(record['slot_us'] for record in here.records(name, 'start'))


def workers(here, name):
    """The processes that have started work; the last line of the log may be incomplete."""
    lines = here.read(name).split('\n')[:-1]
    return {json.loads(line)['worker'] for line in lines}


def run_both(here, limit):
    """The slots of both tenants: those of the big one are under way when the small one comes."""
    lines = here.write('lines', ''.join(f'{line}\n' for line in range(3000)))
    few = here.write('few', ''.join(f'{line}\n' for line in range(SMALL)))
    for name in ('big.log', 'small.log'):
        here.write(name, '')
    big = [here.start('map', limit, '--tenant', 'big', '-q', '-j', 64, '-i', lines, '--log', 'big.log', '--', 'true')
           for _ in range(BIG)]
    ends.until(lambda: len(workers(here, 'big.log')) == BIG, 'not all processes of the big tenant work')
    done = here.takt('map', limit, '--tenant', 'small', '-q', '-j', SMALL, '-i', few, '--log', 'small.log', '--',
                     'true')
    for process in big:
        process.terminate()
    for process in big:
        end(process)
    return done, slots(here, 'big.log'), slots(here, 'small.log')


def between(big, small):
    """How many slots the big tenant had from the small one's first to its last."""
    return sum(small[0] <= slot <= small[-1] for slot in big)


def shares(report, here, what):
    for limit, most, order in (('fair', 2 * SMALL, 'in turns with those of the big one'),
                               ('heavy', SMALL - 2, 'three slots for each of the big one')):
        found = []
        while not found or found[-1] > most and len(found) < TRIES:
            done, big, small = run_both(here, limit)
            found.append(between(big, small))
            if done.returncode != 0 or len(small) != SMALL:
                break
        report.check(done.returncode == 0 and len(small) == SMALL, f'{what}, {limit}: the small tenant\'s jobs are done',
                     told(done))
        report.check(found[-1] <= most, f'{what}: {order}',
                     f'{found} slots of the big tenant between {SMALL} of the small one')


def permits(report, here, what):
    """Permits go to tenants in turns: nobody is left waiting."""
    few = here.write('few', ''.join(f'{line}\n' for line in range(SMALL)))
    maps = [here.start('map', 'permits', '--tenant', name, '-q', '-j', 4, '-i', few, '--', 'true')
            for name in ('a', 'a', 'b', '')]
    report.check([end(process)[0] for process in maps] == [0] * 4, f'{what}: permits for all')


def seen(report, here, what):
    """`takt peek` and `takt top` tell the tenants that wait, their shares and how long they have waited."""
    here.takt('run', 'slow', '--', 'true')
    lines = here.write('few', ''.join(f'{line}\n' for line in range(SMALL)))
    maps = [here.start('map', 'slow', '--tenant', name, '-q', '-j', jobs, '-i', lines, '--', 'true')
            for name, jobs in (('small', 2), ('big', 3))]
    until_waiting(here, ['slow'], 5)
    tenants = json.loads(here.takt('peek', '--json', 'slow').stdout)['tenants']
    told_of = {tenant['name']: (tenant['weight'], tenant['share'], tenant['waiting']) for tenant in tenants}
    report.check(told_of == {'small': (3, 0.75, 2), 'big': (1, 0.25, 3)}, f'{what}: takt peek --json tells tenants',
                 told_of)
    done = here.takt('peek', 'slow')
    report.check('tenant "small": share 75.0%, 2 waiting, for ' in done.stdout, f'{what}: takt peek tells them',
                 told(done))
    done = here.takt('peek')
    report.check('    tenant "small": share 75.0%, 2 waiting, for ' in done.stdout, f'{what}: also without a limit',
                 told(done))
    done = here.takt('top', '--json', '--interval', '100ms', 'slow', 'plain')
    slow, plain = map(json.loads, done.stdout.splitlines())
    report.check(sorted(tenant['share'] for tenant in slow['tenants']) == [0.25, 0.75] and plain['tenants'] == [],
                 f'{what}: and takt top --json', told(done))
    with terminal(here, [TAKT, 'top', '--interval', '100ms', 'plain', 'slow']) as screen:
        screen.until(lambda seen: 'free' in seen.line_of('> plain'), 'the limits')
        screen.type('t')
        screen.until_text('no tenant waits')
        screen.type('j')
        screen.until(lambda seen: '75.0%      3       2  ' in seen.line_of('  small')
                     and '25.0%      1       3  ' in seen.line_of('  big') and 't: 2 tenants' in seen.text(), 'tenants')
        screen.type('t')
        screen.until(lambda seen: seen.chosen().startswith('> slow '), 'the limits again')
        report.check(True, f'{what}: takt top shows them')
    for process in maps:
        process.terminate()
        end(process)


def keys(report, here, what):
    """In a limit that others are within the keys of these take turns, and are called so."""
    here.takt('run', 'server', '--', 'true')
    lines = here.write('few', ''.join(f'{line}\n' for line in range(SMALL)))
    maps = [here.start('map', f'domain:{key}', '-q', '-j', jobs, '-i', lines, '--', 'true')
            for key, jobs in (('a.example', 2), ('b.example', 3))]
    until_waiting(here, ['server'], 5)
    for named in (['server'], []):
        done = here.takt('peek', *named)
        report.check('    key "a.example": share 50.0%, 2 waiting, for ' in done.stdout and 'tenant' not in done.stdout,
                     f'{what}: takt peek tells the keys of limits inside, {named}', told(done))
    with terminal(here, [TAKT, 'top', '--interval', '100ms', 'server', 'domain']) as screen:
        screen.until_text('; t: 2 keys; next slot')
        screen.type('t')
        screen.until(lambda seen: '  KEY  ' in seen.text() and '50.0%      1       3  ' in seen.line_of('  b.example'),
                     'keys')
        report.check(True, f'{what}: takt top shows the keys')
    for process in maps:
        process.terminate()
        end(process)


def scrape(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(DEADLINE)
        connection.connect(path)
        connection.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
        got = b''
        while data := connection.recv(65536):
            got += data
    return openmetrics.parse(got.decode().partition('\r\n\r\n')[2])


def measured(report, here, what):
    """The exporter tells how many tenants wait, and the 32 of them with the most waiters."""
    here.takt('reset', 'slow')
    here.takt('run', 'slow', '--', 'true')
    where, lines = str(here.path / 'metrics.sock'), here.write('few', '1\n2\n3\n')
    maps = [here.start('map', 'slow', '--tenant', f'tenant {number}', '-q', '-j', 1 + (number == 7), '-i', lines, '--',
                       'true') for number in range(MANY)]
    exporter = here.start('exporter', '--interval', '100ms', '--listen', f'unix:{where}', 'slow', 'plain')
    until(exporter.stderr.fileno(), b'serving /metrics at unix:')
    labels, families = (('key', ''), ('limit', 'slow')), {}
    most = ('takt_tenant_waiting', (*labels, ('tenant', 'tenant 7')))

    def are_told():
        families.update(scrape(where))
        for process in maps:
            assert process.poll() is None, end(process)
        return (families['takt_limit_tenants'].samples.get(('takt_limit_tenants', labels)) == MANY
                and len(families['takt_tenant_waiting'].samples) == 32
                and families['takt_tenant_waiting'].samples.get(most) == 2)

    ends.until(are_told, lambda: f'the exporter tells {families}')
    waiting, share = families['takt_tenant_waiting'].samples, families['takt_tenant_share'].samples
    report.check(len(waiting) == 32 and set(share.values()) == {0.025} and
                 len(families['takt_tenant_oldest_wait_seconds'].samples) == 32,
                 f'{what}: takt exporter tells 32 tenants', waiting)
    for process in (*maps, exporter):
        process.terminate()
        end(process)


def labels(report, here):
    done = here.takt('run', 'plain', '--tenant', 'acme', '--', 'true')
    report.check(done.returncode == 0, 'a limit without fair ignores the tenant', told(done))
    done = here.takt('run', 'fair', '--tenant', 'x' * 65, '--', 'true')
    report.check(done.returncode == 64 and 'a tenant of more than 64 bytes' in done.stderr, 'a name that is too long',
                 told(done))
    done = here.takt('check')
    report.check('fair tenant, weights {small: 3}' in done.stdout, 'takt check tells them', told(done))


def main():
    report = tap.Report()
    with place() as here, server(here.path) as redis:
        here.environment['TAKT_POLICY'] = here.write('takt.yaml', POLICY)
        labels(report, here)
        for what, store in (('file store', here.environment['TAKT_STORE']), ('Redis', redis.url)):
            here.environment['TAKT_STORE'] = store
            shares(report, here, what)
            permits(report, here, what)
            seen(report, here, what)
            keys(report, here, what)
            measured(report, here, what)
    report.end()


if __name__ == '__main__':
    main()
