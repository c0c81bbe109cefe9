#!/usr/bin/env python3
"""How a worker ends when it is told to: running jobs end, waiting jobs are given back, and no job is lost."""

import fcntl
import os
import pty
import signal
import termios

from program import end, results, tap, told, until, work_place

JOBS = [{'id': 'first', 'limit': 'slow'}, {'id': 'second', 'limit': 'slow'},
        {'id': 'held', 'limit': 'fast', 'do': ['hold', 'done']}]


def begin(here, *arguments, **options):
    """One job runs, one waits for its slot."""
    here.jobs('jobs', JOBS)
    process = here.begin('takt-puppet', '-i', 'jobs', *arguments, **options)
    got = b''
    while got.count(b'started') < 2:
        got += until(process.stderr.fileno(), b'\n')
    here.until_waiting('slow', 1)
    return process


def in_peace(report, here):
    for number in (signal.SIGTERM, signal.SIGINT):
        process = begin(here)
        process.send_signal(number)
        until(process.stderr.fileno(), b'stopping: waiting for')
        here.until_waiting('slow', 0)
        report.check(process.poll() is None, f'{number.name}: who waits leaves the line, who runs goes on')
        process.send_signal(signal.SIGUSR1)
        status, output, messages = end(process)
        report.check(status == 0 and sorted(results(output)) == ['first', 'held'], 'and ends: 0',
                     f'{status}\n{output}{messages}')
        here.takt('reset', 'slow')
        done = here.work('takt-puppet', '-i', 'jobs')
        report.check(done.returncode == 0 and list(results(done.stdout)) == ['second'], 'the rest is done by a rerun',
                     told(done))
        here.takt('reset', 'slow')
        (here.path / 'jobs.state').unlink()


def second_signal(report, here):
    process = begin(here)
    process.send_signal(signal.SIGTERM)
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 128 + signal.SIGTERM, 'a second signal does not wait: 143', f'{status}\n{messages}')
    here.takt('reset', 'slow')
    done = here.work('takt-puppet', '-i', 'jobs')
    got = results(done.stdout)
    report.check(done.returncode == 0 and sorted(got) == ['held', 'second'] and got['held']['attempt'] == 2,
                 'what ran comes again', told(done))


def out_of_time(report, here):
    process = begin(here, '--drain', '1ms')
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 1 and 'some jobs did not end in time' in messages, 'after --drain it ends: 1',
                 f'{status}\n{messages}')


def holders(report, here):
    """The permit of one that was given up is free at once."""
    here.jobs('jobs', [{'id': 'held', 'limit': 'single', 'do': ['hold']}])
    process = here.begin('takt-puppet', '-i', 'jobs')
    until(process.stderr.fileno(), b'started held')
    process.terminate()
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.terminate()
    end(process)
    report.check(here.peek('single')['held'] == 0, 'a permit is not kept by who has ended', here.peek('single'))


def failing(report, here):
    """One that fails while the worker ends is not tried again by it."""
    here.jobs('jobs', [{'id': 'held', 'limit': 'fast', 'do': ['hold']},
                       {'id': 'fails', 'limit': 'fast', 'do': ['retry', 'done']}])
    process = here.begin('takt-puppet', '-i', 'jobs', '--retry-first', '1h')
    until(process.stderr.fileno(), b'told to fail')
    process.terminate()
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.send_signal(signal.SIGUSR1)
    status, output, messages = end(process)
    done = here.work('takt-puppet', '-i', 'jobs')
    report.check(status == 0 and list(results(output)) == ['held'] and results(done.stdout)['fails']['attempt'] == 2,
                 'what waits to be tried again is given back', f'{status}\n{messages}\n{told(done)}')


def pipes(report, here):
    """Standard input that does not end."""
    process = here.begin('takt-print', stdin=-1)
    process.stdin.write(b'{"id": "1", "limit": "fast", "text": "x"}\n')
    process.stdin.flush()
    until(process.stdout.fileno(), b'"1"')
    process.terminate()
    source, process.stdin = process.stdin, None
    status, _, messages = end(process)
    source.close()
    report.check(status == 0, 'an input that goes on does not hold it up', f'{status}\n{messages}')


def ignore_hangups():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def rereads(report, here):
    """SIGHUP: the file is read again, and waiting jobs continue with it; also under nohup."""
    process = begin(here, preexec_fn=ignore_hangups)
    here.write('takt.yaml', 'limits:\n  - name: slow\n    rules: [{rate: 1000/s}]\n  - name: fast\n'
               '    rules: [{rate: 1000/s}]\nrevision: 1\n')
    process.send_signal(signal.SIGHUP)
    until(process.stderr.fileno(), b'started second')
    here.write('takt.yaml', 'limits: nonsense\n')
    process.send_signal(signal.SIGHUP)
    until(process.stderr.fileno(), b'the policy is unchanged')
    process.send_signal(signal.SIGUSR1)
    status, output, messages = end(process)
    report.check(status == 0 and sorted(results(output)) == ['first', 'held', 'second'],
                 'SIGHUP reads the policy again', f'{status}\n{messages}')


def hangs_up(report, here):
    """SIGHUP of a terminal that closes, also where the messages go elsewhere."""
    master, slave = pty.openpty()
    process = begin(here, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
    os.close(slave)
    process.send_signal(signal.SIGHUP)
    until(process.stderr.fileno(), b'read again')
    os.close(master)  # which the system tells by SIGHUP
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.send_signal(signal.SIGUSR1)
    status, output, messages = end(process)
    report.check(status == 0 and sorted(results(output)) == ['first', 'held'], 'a terminal that closes ends its worker',
                 f'{status}\n{messages}')


def follows(report, here):
    """The policy is in the store."""
    here.write('first.yaml', here.read('takt.yaml'))
    here.takt('apply', 'first.yaml')
    here.write('takt.yaml', 'policy: store\n')
    process = begin(here)
    here.write('next.yaml', 'limits: [{name: slow, rules: [{rate: 1000/s}]}, {name: fast, rules: [{rate: 1000/s}]}]\n')
    done = here.takt('apply', 'next.yaml')
    until(process.stderr.fileno(), b'started second')
    process.send_signal(signal.SIGUSR1)
    status, _, messages = end(process)
    report.check(status == 0 and done.returncode == 0, 'a policy in the store is followed', f'{messages}{told(done)}')


def main():
    report = tap.Report()
    for case in (in_peace, second_signal, out_of_time, holders, failing, pipes, rereads, hangs_up, follows):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
