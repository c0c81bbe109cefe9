#!/usr/bin/env python3
"""What a service manager hears of a worker, by systemd's protocol: a socket of the test's own stands for it."""

import contextlib
import os
import signal
import socket

from program import DEADLINE, end, program, tap, work_place


@contextlib.contextmanager
def manager(address):
    """A datagram socket as a service manager has it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
        here.bind(address)
        here.settimeout(DEADLINE)
        yield here


def hear_until(listener, wanted, got=()):
    """The messages up to the wanted one."""
    got = list(got)
    while wanted not in got:
        got.append(listener.recv(4096).decode())
    return got


def all_heard(listener):
    """The messages that have arrived."""
    got = []
    listener.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            got.append(listener.recv(4096).decode())
    listener.settimeout(DEADLINE)
    return got


def begin(here, address, **environment):
    (here.path / 'jobs.state').unlink(missing_ok=True)  # or there is nothing to do, and it may end before it is told to
    here.jobs('jobs', [{'id': 'held', 'limit': 'fast', 'do': ['hold']}, 'no job'])
    return here.begin('takt-puppet', '-i', 'jobs', '--log', 'none',
                      env={**here.environment, 'NOTIFY_SOCKET': address, **environment})


def stop(worker):
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGUSR1)
    end(worker)


def tells_its_phases(report, here, name, address, bound):
    with manager(bound) as listener:
        worker = begin(here, address)
        got = hear_until(listener, 'READY=1')
        report.check(got == ['READY=1'], f'{name}: a worker tells that it is ready', got)
        got = [listener.recv(4096).decode()]
        report.check(got == ['STATUS=0 done, 0 failed, 0 running, 0 waiting'], f'{name}: and how it stands', got)
        stop(worker)
        got = hear_until(listener, 'STOPPING=1')
        report.check('WATCHDOG=1' not in got + all_heard(listener), f'{name}: and at last that it stops', got)


def beats(report, here):
    """By the loop, twice as often as is asked for; only where it is this process that is watched."""
    address = str(here.path / 'notify')
    with manager(address) as listener:
        worker = begin(here, address, WATCHDOG_USEC='200000')
        got = hear_until(listener, 'WATCHDOG=1')
        while got.count('WATCHDOG=1') < 5:
            got.append(listener.recv(4096).decode())
        report.check(True, 'a watchdog hears a beat, again and again')
        stop(worker)
        all_heard(listener)
        worker = begin(here, address, WATCHDOG_USEC='2000', WATCHDOG_PID='1')
        got = hear_until(listener, 'READY=1')
        stop(worker)
        got = hear_until(listener, 'STOPPING=1', got) + all_heard(listener)
        report.check('WATCHDOG=1' not in got, 'none where another process is watched', got)
        here.jobs('jobs', [{'id': 'held', 'limit': 'fast', 'do': ['hold']}])
        worker = here.begin('sh', '-c', f'WATCHDOG_PID=$$ exec {program("takt-puppet")} -i jobs --log none',
                            env={**here.environment, 'NOTIFY_SOCKET': address, 'WATCHDOG_USEC': '200000'})
        got = hear_until(listener, 'WATCHDOG=1')
        report.check(True, 'and one where it is this one that is')
        stop(worker)


def bad_sockets(report, here):
    """Without a listener, and with an invalid address, work continues."""
    for address in (str(here.path / 'nobody'), 'relative', '/', '@', 'vsock:2:1234', '/' + 'x' * 200):
        here.jobs('jobs', [{'id': 'x', 'limit': 'fast'}])
        done = here.work('takt-puppet', '-i', 'jobs', env={**here.environment, 'NOTIFY_SOCKET': address,
                                                           'WATCHDOG_USEC': '1000000'})
        (here.path / 'jobs.state').unlink()
        report.check(done.returncode == 0, f'NOTIFY_SOCKET={address[:12]}... harms nobody', done.stderr)


def main():
    report = tap.Report()
    with work_place() as here:
        address = str(here.path / 'notify')
        tells_its_phases(report, here, 'a path', address, address)
    with work_place() as here:
        tells_its_phases(report, here, 'an abstract name', f'@takt-{os.getpid()}', f'\0takt-{os.getpid()}')
    for case in (beats, bad_sockets):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
