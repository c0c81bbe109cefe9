#!/usr/bin/env python3
"""Probes and scrapers of a worker: by a unix socket, by a port of the loopback, well-behaved or not."""

import contextlib
import os
import signal
import socket

import openmetrics
from program import DEADLINE, end, tap, told, until, work_place

import redis_server  # the path is program's


def connect(where):
    """A unix socket's path, or an address and port."""
    family = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET6 if ':' in where[0] else socket.AF_INET
    connection = socket.socket(family)
    connection.connect(where)  # waits where the queue of a unix socket is full; with a time-out it would fail
    connection.settimeout(DEADLINE)
    return connection


def rest(connection):
    """The bytes until the other side closes; a reset counts as well."""
    got = b''
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(65536):
            got += data
    return got


def ask(where, request):
    """Status, fields and body of the answer."""
    with connect(where) as connection:
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(request)
        head, _, body = rest(connection).partition(b'\r\n\r\n')
    first, *lines = head.decode().split('\r\n')
    return int(first.split(' ')[1]), dict(line.lower().split(': ') for line in lines), body.decode()


def get(where, path, method='GET'):
    return ask(where, f'{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())


@contextlib.contextmanager
def worker(here, *options, jobs=None, name='jobs'):
    """One that has a job which holds it, and what is known to stand on its log by then."""
    here.jobs(name, jobs or [{'id': 'held', 'limit': 'fast', 'do': ['hold']}])
    process = here.begin('takt-puppet', '-i', name, '--log', 'json', *options)
    until(process.stderr.fileno(), b'started held')
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGUSR1)
        end(process)


def answers(report, here):
    where = str(here.path / 'status')
    with worker(here, '--status', f'unix:{where}'):
        report.check(get(where, '/live')[::2] == (200, 'live\n') and get(where, '/ready')[::2] == (200, 'ready\n'),
                     'it is live and ready', get(where, '/ready'))
        code, fields, body = get(where, '/metrics')
        families = openmetrics.parse(body)
        report.check(code == 200 and fields['content-type'] ==
                     'application/openmetrics-text; version=1.0.0; charset=utf-8' and
                     openmetrics.value(families, 'takt_jobs_running', limit='fast') == 1 and
                     openmetrics.value(families, 'takt_worker_ready') == 1, 'its figures are OpenMetrics', body)
        code, fields, body = get(where, '/metrics', 'HEAD')
        report.check(code == 200 and not body and int(fields['content-length']) > 1000, 'HEAD has no body', fields)
        code, fields, body = get(where, '/metrics', 'POST')
        report.check(code == 405 and fields['allow'] == 'get, head', 'it can only be asked', fields)
        report.check(get(where, '/')[0] == 404 and get(where, '/metrics/..')[0] == 404, 'there is nothing else')
        report.check(ask(where, b'GET /live\r\n\r\n')[0] == 400 and ask(where, b'\x16\x03\x01\r\n\r\n')[0] == 400,
                     'what is not HTTP is refused')
        report.check(ask(where, b'GET /live HTTP/1.1\r\nX: ' + b'x' * 100000)[0] == 431, 'and so is what is too long')
        with connect(where) as connection:
            for byte in b'GET /live HTTP/1.1\r\n\r\n':
                connection.sendall(bytes([byte]))
            report.check(rest(connection).startswith(b'HTTP/1.1 200 OK\r\n'), 'a request may come byte by byte')
    report.check(not os.path.exists(where), 'the socket is gone with the worker')


def sockets(process):
    """How many sockets a process has."""
    folder, count = f'/proc/{process.pid}/fd', 0
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(f'{folder}/{name}').startswith('socket:')
    return count


def bounds_connections(report, here):
    where = str(here.path / 'status')
    with worker(here, '--status', f'unix:{where}') as process:
        before = sockets(process)
        idle = [connect(where) for _ in range(366)]
        code = get(where, '/live')[0]
        count = sockets(process)
        report.check(code == 200, 'with 366 idle connections one that asks is answered', code)
        report.check(count <= before + 16, 'no more than 16 are kept', f'{before} sockets, then {count}')
        report.check(all(rest(connection) == b'' for connection in idle[:350]), 'the oldest idle ones are dropped')
        idle = idle[350:]
        with contextlib.suppress(OSError):  # it may be its turn already
            idle[0].sendall(b'GET /li')
        report.check(all(rest(connection) == b'' for connection in idle), 'who is slow is dropped after a while')
        report.check(get(where, '/live')[0] == 200, 'and others are answered')


def listening(port):
    """The addresses at which the port is listened on, as the kernel writes them."""
    found = set()
    for name in ('/proc/net/tcp', '/proc/net/tcp6'):
        with contextlib.suppress(FileNotFoundError), open(name, encoding='ascii') as table:
            rows = [line.split() for line in table.readlines()[1:]]
            found |= {row[1].split(':')[0] for row in rows if row[3] == '0A' and int(row[1].split(':')[1], 16) == port}
    return found


def listens_on_loopback(report, here):
    port = redis_server.free_port()
    with worker(here, '--status', str(port)):
        report.check(get(('127.0.0.1', port), '/ready')[0] == 200, 'a port can be asked at 127.0.0.1')
        code = [ask(('127.0.0.1', port), f'GET /live HTTP/1.1\r\nHost: {name}\r\n\r\n'.encode())[0]
                for name in (f'127.0.0.1:{port}', 'rebound.example.org')]
        report.check(code == [200, 421], 'but not under the name of another host', code)
        addresses = listening(port)
        six = '0000000000000000' + '0000000001000000'
        report.check({'0100007F'} <= addresses <= {'0100007F', six}, 'and nowhere but on the loopback', addresses)
        if six in addresses:
            report.check(get(('::1', port), '/ready')[0] == 200, 'also at ::1')
        else:
            report.skip('also at ::1', 'there is no IPv6')
        here.jobs('more', [{'id': 'x', 'limit': 'fast'}])
        done = here.work('takt-puppet', '-i', 'more', '--status', str(port))
        report.check(done.returncode == 71 and str(port) in done.stderr and 'in use' in done.stderr,
                     'a second worker there is refused', told(done))


def replaces_what_is_stale(report, here):
    where = str(here.path / 'status')
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(where)
        dead.listen(1)
    with worker(here, '--status', f'unix:{where}'):
        report.check(get(where, '/live')[0] == 200, 'a socket that nobody listens at is replaced')
        here.jobs('more', [{'id': 'x', 'limit': 'fast'}])
        done = here.work('takt-puppet', '-i', 'more', '--status', f'unix:{where}')
        report.check(done.returncode == 71 and 'another process listens there' in done.stderr,
                     'one that somebody listens at is not', told(done))
        report.check(get(where, '/live')[0] == 200, 'and he goes on')
    here.write('status', 'a file of somebody')
    done = here.work('takt-puppet', '-i', 'more', '--status', f'unix:{where}')
    report.check(done.returncode == 71 and here.read('status') == 'a file of somebody', 'nor is anything else',
                 told(done))
    for place in ('0', '65536', '80x', '-1', 'localhost:80', '0.0.0.0:80', 'unix:', 'unix:' + 'x' * 108, ''):
        done = here.work('takt-puppet', '-i', 'more', '--status', place)
        report.check(done.returncode != 0 and ('unix:PATH or a port' in done.stderr or '107 bytes' in done.stderr),
                     f'--status {place[:20]} is refused with what to write', told(done))


def ready_as_the_store_is(report, here):
    """It is killed, and comes back: not ready meanwhile, but live."""
    where = str(here.path / 'status')
    with redis_server.server(here.path) as server:
        jobs = [{'id': str(n), 'limit': 'slow'} for n in range(2)] + [{'id': 'held', 'limit': 'single', 'do': ['hold']}]
        with worker(here, '--status', f'unix:{where}', '-s', server.url, jobs=jobs) as process:
            report.check(get(where, '/ready')[0] == 200, 'ready with its store')
            server.stop()
            until(process.stderr.fileno(), b'"event":"trouble","who":"store"')
            code, _, body = get(where, '/ready')
            report.check(code == 503 and body.startswith('not ready: store: '), 'not ready without it', body)
            report.check(get(where, '/live')[0] == 200, 'but live')
            families = openmetrics.parse(get(where, '/metrics')[2])
            report.check(openmetrics.value(families, 'takt_worker_ready') == 0, 'as its figures say')
            (here.path / 'redis').rename(here.path / 'before')
            with redis_server.server(here.path):
                until(process.stderr.fileno(), b'"event":"recovered"')
                report.check(get(where, '/ready')[0] == 200, 'ready when it is back')
                process.send_signal(signal.SIGTERM)
                until(process.stderr.fileno(), b'"event":"draining"')
                code, _, body = get(where, '/ready')
                report.check((code, body) == (503, 'not ready: draining\n') and get(where, '/live')[0] == 200,
                             'not ready, but live, while it drains', body)
                process.send_signal(signal.SIGUSR1)
                end(process)


def counts_who_waits(report, here):
    """In memory or not; and what becomes of them at the end."""
    where = str(here.path / 'status')
    jobs = [{'id': 'held', 'limit': 'fast', 'do': ['hold']}] + [{'id': str(n), 'limit': 'slow'} for n in range(30)]
    with worker(here, '--status', f'unix:{where}', '--waiting', '5', '--metrics-file', 'metrics', jobs=jobs) as process:
        while True:
            families = openmetrics.parse(get(where, '/metrics')[2])
            if (openmetrics.value(families, 'takt_jobs_total', limit='slow', outcome='done') == 1 and
                    openmetrics.value(families, 'takt_jobs_taken_total', limit='slow') == 30):
                break
        counts = [openmetrics.value(families, f'takt_jobs_{state}', limit='slow')
                  for state in ('waiting', 'put_away', 'running')]
        report.check(sum(counts) == 29 and counts[0] <= 5 and counts[2] == 0,
                     'those who wait are counted where they are', counts)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGUSR1)
        end(process)
        families = openmetrics.parse(here.read('metrics'))
        counts = [openmetrics.value(families, f'takt_jobs_{state}', limit='slow')
                  for state in ('waiting', 'put_away', 'running')]
        back = openmetrics.value(families, 'takt_jobs_total', limit='slow', outcome='given_back')
        report.check(counts == [0, 0, 0] and back == 29, 'and all of them are given back', f'{counts} {back}')


def main():
    report = tap.Report()
    for case in (answers, bounds_connections, listens_on_loopback, replaces_what_is_stale, counts_who_waits,
                 ready_as_the_store_is):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
