#!/usr/bin/env python3
"""
How `takt map` ends: signals, closed pipes, a lost store, a terminal. Jobs report through a pipe that they run, and wait
at a FIFO until they may end.
"""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios

from command import end, ends, FORKS, run, TAKT, told, until, until_waiting

ANY = ['--rate', '10000/s', '--burst', '1000', 'any']

# Tells that it runs, waits at its gate, notes that it is done.
JOB = ['--', 'sh', '-c', 'echo "runs $1"; cat "gate-$1"; echo "$1" >>done', 'sh']


def begin(here, count, *arguments, limit=(), **options):
    """A map of `count` lines of which two run and wait at their gates."""
    text = here.write('in', ''.join(f'{line}\n' for line in range(1, count + 1)))
    for line in range(1, count + 1):
        here.fifo(f'gate-{line}')
    process = here.start('map', *(limit or ANY), '-j', '2', '-i', text, *arguments, *JOB, **options)
    got = until(process.stdout.fileno(), b'runs ')
    while got.count(b'\n') < 2:
        got += until(process.stdout.fileno(), b'\n')
    return process


def drain(report, here):
    """The first signal lets the running jobs end; the rest is done by a rerun."""
    process = begin(here, 20, '--undone', 'rest', '--json')
    process.send_signal(signal.SIGTERM)
    said = until(process.stderr.fileno(), b'stopping: waiting for')
    here.open_gate('gate-1')
    here.open_gate('gate-2')
    status, output, messages = end(process)
    summary = json.loads(output.splitlines()[-1])
    report.check(status == 128 + signal.SIGTERM, 'after SIGTERM the status is 143', f'{status}\n{said}{messages}')
    report.check(sorted(here.read('done').split()) == ['1', '2'], 'the running jobs end in peace', here.read('done'))
    report.check(here.read('rest').split() == [str(line) for line in range(3, 21)] and summary['not_done'] == 18,
                 'what was not done is in the file, in order', here.read('rest'))
    done = here.takt('map', *ANY, '-j', '4', '-i', 'rest', '--', 'sh', '-c', 'echo "$1" >>done', 'sh')
    report.check(done.returncode == 0 and sorted(map(int, here.read('done').split())) == list(range(1, 21)),
                 'a rerun with -i does the rest, and nothing twice', told(done))


def tells_numbers(report, here):
    process = begin(here, 9)
    process.send_signal(signal.SIGINT)
    until(process.stderr.fileno(), b'stopping: waiting for')
    here.open_gate('gate-1')
    here.open_gate('gate-2')
    status, _, messages = end(process)
    report.check(status == 128 + signal.SIGINT and 'not done: all from line 3 on' in messages,
                 'without --undone the lines are told', f'{status}\n{messages}')


def gives_up_waiting(report, here):
    """Jobs that wait for a slot are given up at once, and leave the line."""
    slow = ['--rate', '2/h', '--burst', '2', 'slow']
    process = begin(here, 4, '--undone', 'rest', limit=slow)
    for waiting, gate in ((1, 'gate-2'), (2, 'gate-1')):
        here.open_gate(gate)
        until_waiting(here, slow, waiting)
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 143 and here.read('rest').split() == ['3', '4'], 'jobs that wait are given up at once',
                 f'{status}\n{here.read("rest")}{messages}')
    until_waiting(here, slow, 0)
    report.check(True, 'and leave the line')


def tells_waiting(report, here):
    slow = ['--rate', '2/h', '--burst', '2', 'slow']
    process = here.start('map', *slow, '-j', '3', '--', 'echo', stdin=-1)
    process.stdin.write(b'1\n2\n3\n4\n5\n6\n')
    process.stdin.flush()
    until_waiting(here, slow, 3)
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 143 and 'not done: all from line 3 on' in messages, 'they are told without --undone',
                 f'{status}\n{messages}')


def second_signal(report, here):
    process = begin(here, 5, '--undone', 'rest')
    process.send_signal(signal.SIGINT)
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.send_signal(signal.SIGINT)
    status, _, messages = end(process)
    report.check(status == 130 and not (here.path / 'done').exists(), 'a second signal kills the running jobs',
                 f'{status}\n{messages}')
    report.check(sorted(here.read('rest').split()) == ['1', '2', '3', '4', '5'] and 'failed' in messages
                 and ' 0 failed' in messages, 'which are left, not failed', here.read('rest') + messages)


def stubborn(report, here):
    """A job that ignores SIGTERM is killed none the less."""
    process = here.start('map', *ANY, '--', 'sh', '-c', 'trap "" TERM; echo runs; cat gate', 'sh', stdin=-1)
    here.fifo('gate')
    process.stdin.write(b'x\n')
    process.stdin.close()
    process.stdin = None
    until(process.stdout.fileno(), b'runs')
    process.send_signal(signal.SIGTERM)
    until(process.stderr.fileno(), b'stopping: waiting for')
    process.send_signal(signal.SIGTERM)
    status, _, messages = end(process)
    report.check(status == 143, 'also one that ignores SIGTERM', f'{status}\n{messages}')


def forks(report, here):
    """What a job forks while it is being ended ends as well, also where its leader is gone."""
    here.fifo('gate')
    for words, name in ((['sh', '-c', 'trap "cat gate & exit 1" TERM; cat gate & echo runs; wait'], 'forks when it is told to end'),
                        ([sys.executable, '-c', FORKS], 'forks all the time')):
        process = here.start('map', *ANY, '--undone', 'rest', '--', *words, stdin=-1)
        process.stdin.write(b'x\n')
        process.stdin.close()
        process.stdin = None
        until(process.stdout.fileno(), b'runs')
        process.send_signal(signal.SIGTERM)
        until(process.stderr.fileno(), b'stopping: waiting for')
        process.send_signal(signal.SIGTERM)
        status, _, messages = end(process)  # of all that writes to its pipes
        report.check(status == 143 and here.read('rest') == 'x\n', f'nothing is left of a job that {name}',
                     f'{status}\n{messages}')


def daemon(report, here):
    """What leaves the group on purpose is neither ended nor waited for, nor is what a job that ended by itself left."""
    here.fifo('gate')
    for words, first in (('echo $$ >pid; exec cat gate', 'setsid'), ('echo $$ >pid; exec cat gate', '')):
        job = f'{first} sh -c "$0" >/dev/null 2>&1 & while [ ! -s pid ]; do :; done; echo runs'
        (here.path / 'pid').unlink(missing_ok=True)
        process = here.start('map', *ANY, '--', 'sh', '-c', job + ('; cat gate' if first else ''), words, stdin=-1)
        process.stdin.write(b'x\n')
        process.stdin.close()
        process.stdin = None
        until(process.stdout.fileno(), b'runs')
        if first:
            process.send_signal(signal.SIGTERM)
            until(process.stderr.fileno(), b'stopping: waiting for')
            process.send_signal(signal.SIGTERM)
        status, _, messages = end(process)
        left = int(here.read('pid'))
        report.check(status == (143 if first else 0) and 'cat gate' in ends.named([left]),
                     'a daemon of a job goes on' if first else 'so does what a job leaves behind when it ends by itself',
                     f'{status}\n{messages}{ends.named([left])}')
        os.kill(left, signal.SIGKILL)


def endless_pipe(report, here):
    """A pipe that does not end: without --undone it is not waited for, with it until a second signal."""
    for words in ([], ['--undone', 'rest']):
        process = here.start('map', *ANY, *words, '--', 'echo', 'did', stdin=-1)
        process.stdin.write(b'x\n')
        process.stdin.flush()
        until(process.stdout.fileno(), b'did x')
        process.send_signal(signal.SIGTERM)
        if words:
            until(process.stderr.fileno(), b'copying the rest of the input to rest; a signal stops that')
            process.send_signal(signal.SIGTERM)
        source, process.stdin = process.stdin, None
        status, _, messages = end(process)
        source.close()
        report.check(status == 143 and ('all from line 2 on' in messages),
                     f'an input that goes on does not hold it up ({" ".join(words) or "no --undone"})',
                     f'{status}\n{messages}')
    process = here.start('map', *ANY, '--undone', 'rest', '--', './gone', stdin=-1)
    process.stdin.write(b'x\ny\n')
    process.stdin.flush()
    until(process.stderr.fileno(), b'a signal stops that')
    process.stdin.write(b'z')
    status, _, messages = end(process)
    report.check(status == 127 and here.read('rest') == 'x\ny\nz\n', 'the rest of a pipe is put aside as it comes',
                 f'{status}\n{messages}')


def ignored(report, here):
    """What nohup and a shell's background jobs ignore stays ignored."""
    here.fifo('gate-1')
    done = subprocess.Popen(['sh', '-c', 'trap "" INT; exec "$@"', 'sh', TAKT, 'map', *ANY, *JOB], cwd=here.path,
                            env=here.environment, stdin=-1, stdout=-1, stderr=-1)
    done.stdin.write(b'1\n')
    done.stdin.close()
    done.stdin = None
    until(done.stdout.fileno(), b'runs 1')
    done.send_signal(signal.SIGINT)
    here.open_gate('gate-1')
    status, _, messages = end(done)
    report.check(status == 0 and here.read('done') == '1\n', 'an ignored signal stays ignored', f'{status}\n{messages}')


def broken_pipe(report, here):
    here.write('in', ''.join(f'{line}\n' for line in range(10000)))
    reader, writer = os.pipe()
    process = here.start('map', *ANY, '-i', 'in', '--undone', 'rest', '--', 'echo', stdout=writer)
    os.close(writer)
    until(reader, b'0\n')
    os.close(reader)
    status, _, messages = end(process)
    left = len(here.read('rest').split())
    report.check(status == 141 and 'standard output was closed' in messages and left > 0,
                 'when nobody reads the output any more it ends: 141', f'{status}, {left} left\n{messages}')

    reader, writer = os.pipe()
    os.close(reader)
    done = here.takt('map', *ANY, '--json', '--', 'true', capture_output=False, stdout=writer, stderr=-1, input='x\n')
    os.close(writer)
    report.check(done.returncode == 74 and 'Broken pipe' in done.stderr, 'and a summary that nobody reads is an error',
                 told(done))
    done = ends.run(['sh', '-c', '"$@" <&-', 'sh', TAKT, 'map', *ANY, '--', 'true'], cwd=here.path,
                    env=here.environment, capture_output=True, text=True)
    report.check(done.returncode == 66 and 'cannot read' in done.stderr, 'a closed input is an error: 66', told(done))


def lost_store(report, here):
    """The store's folder goes away, long before all is done, and comes back: the jobs wait, and are done."""
    limit = ['--rate', '5/s', 'paced']
    process = here.start('map', *limit, '-i', here.write('in', 'x\n' * 25), '--log', 'log', '--', 'echo', 'did')
    until(process.stdout.fileno(), b'did')
    os.rename(here.path / 'store', here.path / 'away')
    said = until(process.stderr.fileno(), b'retrying').decode()
    os.rename(here.path / 'away', here.path / 'store')
    status, output, messages = end(process)
    slots = sorted(record['slot_us'] for record in here.records('log', 'start'))
    near = [b - a for a, b in zip(slots, slots[1:]) if b - a < 200000]
    report.check(status == 0 and len(slots) == 25, 'a store that was lost is waited for',
                 f'{status}\n{said}{messages}{output}')
    report.check(not near, 'and the quota is kept over it', near)


def on_terminal(here, *arguments):
    """A map with a terminal for its standard error and as its controlling one; the master's side."""
    master, slave = pty.openpty()
    process = here.start('map', *ANY, *arguments, stderr=slave, env={**here.environment, 'TERM': 'xterm'},
                         start_new_session=True, preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0))
    os.close(slave)
    return process, master


def terminal(report, here):
    for line in (1, 2, 3):
        here.fifo(f'gate-{line}')
    process, master = on_terminal(here, '-j', '2', '-i', here.write('in', '1\n2\n3\n'), *JOB)
    until(process.stdout.fileno(), b'runs 2')
    got = until(master, b'0 of 3 done, ')
    got += until(master, b' 2 running, 0 waiting')
    report.check(b'\r\x1b[K[....' in got, 'a terminal gets a bar', got)
    here.open_gate('gate-1')
    got = until(master, b'] 1 of 3 done')
    report.check(b'[########....' in got, 'which grows', got)
    until(process.stdout.fileno(), b'runs 3')
    os.write(master, b'\x03')
    until(master, b'stopping: waiting for 2 running')
    here.open_gate('gate-2')
    here.open_gate('gate-3')
    got = until(master, b'3 done, 0 failed')
    ends.communicate(process)
    report.check(process.returncode == 130 and sorted(here.read('done').split()) == ['1', '2', '3'],
                 'Ctrl-C reaches takt, not the jobs', f'{process.returncode} {got}')
    os.close(master)


def says_what_it_waits_for(report, here):
    here.takt('block', *ANY, '10min', '--reason', 'maintenance')
    process, master = on_terminal(here, '-i', here.write('in', '1\n2\n'), '--', 'true')
    got = until(master, b': maintenance; 0 of 2 done')
    report.check(re.search(rb'\[\.+\] blocked until (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d: maintenance; 0 of 2 done', got),
                 'on a terminal a long wait has its reason', got)
    here.takt('unblock', *ANY)
    until(master, b'2 done, 0 failed')
    ends.communicate(process)
    report.check(process.returncode == 0, 'which may end')
    os.close(master)


if __name__ == '__main__':
    run(drain, tells_numbers, gives_up_waiting, tells_waiting, second_signal, stubborn, forks, daemon, endless_pipe,
        ignored, broken_pipe, lost_store, terminal, says_what_it_waits_for)
