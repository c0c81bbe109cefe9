#!/usr/bin/env python3
"""Programs whose store is the agent of their host: takt run and takt map through a real agent, and its end."""

import contextlib
import signal
import subprocess

from agent import agent_place, end, ends, tap, until
from command import TAKT

ONE = ['--concurrency', '1', 'one']


def held(here, *arguments, **options):
    """A `takt run` that holds a permit until its gate is opened."""
    process = here.start('run', '--store', f'agent:{here.socket}', *arguments, '--', 'sh', '-c',
                         'echo runs >&2; exec cat gate', stderr=subprocess.PIPE, **options)
    until(process.stderr.fileno(), b'runs')
    return process


def paces(report, here):
    lines = ''.join(f'{i}\n' for i in range(20))
    store = f'agent:{here.socket}'
    mapped = here.takt('map', '--store', store, '--rate', '200/s', '--jobs', '4', 'paced', '--', 'echo', '{}',
                       input=lines)
    report.check(mapped.returncode == 0 and sorted(mapped.stdout.split(), key=int) == lines.split(),
                 'takt map does all lines', mapped)
    done = here.takt('doctor', '-s', store)
    report.check(done.returncode == 0 and 'every operation of takt was tried' in done.stdout,
                 'takt doctor tries every operation through the agent', done)
    told = here.takt('peek', '--store', store, '--json', '--rate', '200/s', 'paced')
    report.check(told.returncode == 0 and '"limit":' in told.stdout.replace(' ', ''), 'takt peek tells the limit', told)


def holds(report, here):
    here.fifo('gate')
    first = held(here, *ONE)
    second = here.takt('run', '--store', f'agent:{here.socket}', '--max-wait', '100ms', *ONE, '--', 'true')
    report.check(second.returncode != 0, 'one permit is held by one program', second)
    first.send_signal(signal.SIGKILL)
    third = here.takt('run', '--store', f'agent:{here.socket}', '--max-wait', '5s', *ONE, '--', 'true')
    report.check(third.returncode == 0, 'a program that is killed gives back at once, long before its lease ends', third)
    here.open_gate('gate')
    ends.wait(first)


def goes_on(report, here, agent):
    """The agent dies; who waits goes on with the next one."""
    store = f'agent:{here.socket}'
    first = here.takt('run', '--store', store, '--rate', '1/s', 'again', '--', 'true')
    second = here.start('run', '--store', store, '--rate', '1/s', 'again', '--', 'echo', 'started',
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end(agent, signal.SIGKILL)
    next_agent = here.agent()
    output = second.communicate(timeout=60)[0]
    report.check(first.returncode == 0 and second.returncode == 0 and b'started' in output,
                 'a waiting program goes on with the next agent', (first, output))
    end(next_agent)
    alone = here.start('run', '--store', store, '--rate', '1/s', 'again', '--', 'true', stderr=subprocess.PIPE)
    said = until(alone.stderr.fileno(), b'takt-agent')
    report.check(b'no agent answers at' in said, 'without an agent the message says how to start one', said)
    alone.kill()
    ends.wait(alone)


def main():
    report = tap.Report()
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(agent_place())
        agent = here.agent()
        paces(report, here)
        holds(report, here)
        goes_on(report, here, agent)
    report.end()


main()
