#!/usr/bin/env python3
"""The reports of a running worker: its log in every form, its file of metrics, its picture on a terminal."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import openmetrics
from program import end, ends, program, results, tap, told, until, work_place

TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z')
JOBS = [{'id': 'good', 'limit': 'fast'}, {'id': 'again', 'limit': 'fast', 'do': ['retry', 'done']},
        {'id': 'bad', 'limit': 'fast', 'do': ['dead']}, 'no job']


def logs_json(report, here):
    here.jobs('jobs', JOBS)
    done = here.work('takt-puppet', '-i', 'jobs', '--log', 'json', '--retry-first', '1ms')
    events = [json.loads(line) for line in done.stderr.splitlines()]
    report.check(all(TIME.fullmatch(event['time']) and event['program'] == 'takt-puppet' for event in events),
                 'each line of the log is JSON with a time and who says it', told(done))
    by_id = {}
    for event in events:
        by_id.setdefault(event.get('id'), []).append(event)
    report.check([event['event'] for event in by_id['again']] == ['started', 'retry', 'started', 'done'],
                 'a job that fails once is told of four times', by_id['again'])
    retry, finish = by_id['again'][1], by_id['again'][3]
    report.check(retry['why'] == 'told to fail' and retry['attempt'] == 1 and 0 <= retry['after_s'] <= 0.001 and
                 finish['attempt'] == 2 and finish['took_s'] >= 0 and finish['limit'] == 'fast',
                 'with attempt, reason and times', by_id['again'])
    report.check(by_id['good'][0]['waited_s'] >= 0 and by_id['good'][0]['late_s'] >= 0, 'and how long it has waited',
                 by_id['good'])
    report.check(by_id['bad'][-1]['event'] == 'dead' and by_id['bad'][-1]['why'] == 'told to die' and
                 by_id['bad'][-1]['where'] == 'line 3', 'a dead one with why and where', by_id['bad'])
    report.check(events[-1]['event'] == 'ended' and events[-1]['done'] == 2 and events[-1]['dead'] == 2 and
                 events[-1]['retried'] == 1, 'the last line sums up', events[-1])


def logs_text(report, here):
    here.jobs('jobs', JOBS)
    done = here.work('takt-puppet', '-i', 'jobs', '--retry-first', '1ms')
    lines = [line.split(' ', 3) for line in done.stderr.splitlines()]
    report.check(all(TIME.fullmatch(line[0]) and line[1] == 'takt-puppet' for line in lines),
                 'without a terminal it is a line for each event', told(done))
    report.check([line[3] for line in lines if line[2] == 'dead' and 'bad' in line[3]] ==
                 ['id="bad" limit=fast where="line 3" why="told to die"'], 'with its fields', told(done))
    done = here.work('takt-puppet', '-i', 'jobs', '--log', 'none', '--state', 'another')
    report.check(not done.stderr and len(results(done.stdout)) == 2, 'or nothing at all', told(done))
    done = here.work('takt-puppet', '-i', 'jobs', '--log', 'none', '--policy', 'missing')
    report.check(done.returncode != 0 and done.stderr.startswith('takt-puppet: '),
                 'but why it cannot begin is told in any case', told(done))


def readers_go_away(report, here):
    """Of standard error: it is closed, its reader ends, or its reader does not read."""
    many = [{'id': str(n), 'limit': 'fast', 'text': 'x'} for n in range(20000)]
    here.jobs('jobs', many)
    done = here.work('sh', '-c', f'exec {program("takt-print")} -i jobs --state closed --results closed.out 2>&-')
    report.check(done.returncode == 0 and len(here.read('closed.out').splitlines()) == len(many),
                 'a closed standard error holds up nothing', told(done))
    reader, writer = os.pipe()
    os.close(reader)
    worker = here.begin('takt-print', '-i', 'jobs', '--state', 'gone', '--results', 'gone.out', stderr=writer)
    status = ends.wait(worker)
    os.close(writer)
    report.check(status == 0 and len(here.read('gone.out').splitlines()) == len(many), 'nor does a reader who is gone',
                 status)
    reader, writer = os.pipe()
    worker = here.begin('takt-print', '-i', 'jobs', '--state', 'idle', '--results', 'idle.out', '--metrics-file',
                        'metrics', '--log', 'json', stderr=writer)
    os.close(writer)
    status = ends.wait(worker)
    report.check(status == 0 and len(here.read('idle.out').splitlines()) == len(many),
                 'nor one who does not read', status)
    with os.fdopen(reader, encoding='utf-8') as log:
        lines = log.read().splitlines()
    report.check(all(json.loads(line) for line in lines), 'he finds whole lines', lines[-1])
    families = openmetrics.parse(here.read('metrics'))
    lost = openmetrics.value(families, 'takt_worker_log_lost_total')
    report.check(lost > 0, 'and the metrics count those that he has missed', lost)


def writes_metrics(report, here):
    here.jobs('jobs', JOBS + [{'id': 'waits', 'limit': 'slow'}, {'id': 'held', 'limit': 'fast', 'do': ['hold']},
                              {'id': 'waits too', 'limit': 'slow'}])
    worker = here.begin('takt-puppet', '-i', 'jobs', '--metrics-file', 'metrics', '--retry-first', '1ms')
    log = until(worker.stderr.fileno(), b'working')
    report.check(openmetrics.parse(here.read('metrics')), 'the file is there from the start')
    log = until(worker.stderr.fileno(), b'done id="again"', log)
    log = until(worker.stderr.fileno(), b'started id="held"', log)
    until(worker.stderr.fileno(), b'done id="waits"', log)
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGUSR1)
    end(worker)
    families = openmetrics.parse(here.read('metrics'))
    wanted = {'done': 3, 'dead': 1, 'given_back': 0}
    got = {name: openmetrics.value(families, 'takt_jobs_total', limit='fast', outcome=name) for name in wanted}
    report.check(got == wanted, 'at the end it has what became of all jobs', got)
    report.check(openmetrics.value(families, 'takt_jobs_total', limit='slow', outcome='given_back') == 1 and
                 openmetrics.value(families, 'takt_jobs_total', limit='', outcome='dead') == 1,
                 'also of those that did not start', here.read('metrics'))
    report.check(openmetrics.value(families, 'takt_job_retries_total', limit='fast') == 1 and
                 openmetrics.value(families, 'takt_job_wait_seconds_count', limit='fast') == 5 and
                 openmetrics.value(families, 'takt_job_duration_seconds_count', limit='fast') == 3,
                 'and of their attempts', here.read('metrics'))
    left = [openmetrics.value(families, f'takt_jobs_{state}', limit=limit) for limit in ('fast', 'slow')
            for state in ('waiting', 'running', 'put_away')]
    report.check(left == [0] * 6, 'nobody is left anywhere', left)
    report.check(0 < openmetrics.value(families, 'takt_store_call_seconds_count') <=
                 openmetrics.value(families, 'takt_store_calls_total') and
                 openmetrics.value(families, 'takt_store_call_seconds_sum') > 0, 'the store was timed')
    done = here.work('takt-puppet', '-i', 'jobs', '--metrics-file', 'no/such/folder/metrics')
    report.check(done.returncode != 0 and 'no/such/folder/metrics' in done.stderr, 'a path that cannot be is refused',
                 told(done))


def on_terminal(here, *arguments, stdout=None):
    """Starts takt-puppet with a terminal of 80x24 as its standard error, and perhaps output: it, and our end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
    worker = here.begin('takt-puppet', *arguments, stderr=theirs, stdout=stdout or theirs,
                        env={**here.environment, 'TERM': 'xterm'})
    os.close(theirs)
    return worker, ours


def read_all(terminal, got):
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b''
        if not data:
            return got
        got += data


def draws(report, here):
    here.jobs('jobs', JOBS + [{'id': 'held', 'limit': 'fast', 'do': ['hold']}, {'id': 'a', 'limit': 'slow'},
                              {'id': 'b', 'limit': 'slow'}])
    worker, terminal = on_terminal(here, '-i', 'jobs', '--retry-first', '1ms')
    got = until(terminal, b'3 done, 2 failed, 1 running, 1 waiting'.replace(b'3 done', b'3 of 7 done'))
    got = until(terminal, b'working, 0.0/s; slow: position 1, about 59 min', got)
    report.check(True, 'after a while a terminal has what is waited for')
    got = until(terminal, b'\x1b[J', got)
    report.check(b'limit            rate now' in got and re.search(rb'slow +0\.\d/s +1 +0 +0 +1  1/h', got),
                 'a terminal gets a picture with rates and quotas', got)
    report.check(b'job "bad", line 3: told to die\r\n' in got, 'what died stands above it', got)
    worker.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
    shell = os.open(f'/proc/{worker.pid}/fd/2', os.O_WRONLY | os.O_NOCTTY)
    os.write(shell, b'stopped\n')
    os.close(shell)
    got = until(terminal, b'stopped', got)
    time.sleep(0.3)  # so that it is late with its next picture when it goes on
    worker.send_signal(signal.SIGCONT)
    again = until(terminal, b'working')
    report.check(b'A' not in again[:again.index(b'working')], 'after a stop it is drawn anew, below what a shell has written', again)
    got += again
    worker.send_signal(signal.SIGUSR1)
    got = until(terminal, b'{"id":"held"', got)
    worker.send_signal(signal.SIGTERM)
    got = read_all(terminal, got)
    ends.wait(worker)
    report.check(re.search(rb'\x1b\[\d+A\x1b\[J\{"id":"held","attempt":1', got),
                 'and so do results that are for the same terminal', got)
    last = got[got.rindex(b'\x1b[J') + 3:]
    report.check(re.fullmatch(rb'takt-puppet: 4 done, 2 failed, 1 retried, 1 given back, in \d+\.\d s\r\n', last),
                 'at the end there is no picture any more, but a summary', last)
    lines = [len(line) for line in re.sub(rb'\x1b\[\d*[A-Z]', b'', got).replace(b'\r', b'').split(b'\n')]
    report.check(b'\x1b[24A' not in got and max(lines) < 200, 'and nothing was too long for it', lines)
    os.close(terminal)


def stops_reading(report, here):
    """A terminal that takes no output does not delay jobs."""
    here.jobs('jobs', [{'id': str(n), 'limit': 'fast', 'do': ['dead']} for n in range(5000)])
    worker, terminal = on_terminal(here, '-i', 'jobs', stdout=subprocess.DEVNULL)
    status = ends.wait(worker)
    report.check(status == 1 and len(here.letters('jobs.dead')) == 5000,
                 'a terminal that takes nothing is no hindrance', status)
    os.close(terminal)


def main():
    report = tap.Report()
    for case in (logs_json, logs_text, readers_go_away, writes_metrics, draws, stops_reading):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
