#!/usr/bin/env python3
"""Programs whose store is the agent of their host: takt run and takt map through a real agent, and its end."""

import contextlib
import json
import signal
import subprocess

from agent import BUILD, agent_place, end, ends, tap, until
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
    done = here.takt('doctor', '--timeout', '60s', '-s', store)
    report.check(done.returncode == 0 and 'every operation of takt was tried' in done.stdout,
                 'takt doctor tries every operation through the agent', done)
    told = here.takt('peek', '--store', store, '--json', '--rate', '200/s', 'paced')
    report.check(told.returncode == 0 and '"limit":' in told.stdout.replace(' ', ''), 'takt peek tells the limit', told)


def workers(report, here):
    """A worker through the agent: the slots are of a limit that the agent's policy has."""
    worker = next(path for folder in ('workers', 'workers/*') for path in BUILD.glob(f'{folder}/takt-print'))
    here.write('jobs', ''.join(json.dumps({'id': str(i), 'limit': 'mail', 'text': f'text {i}'}) + '\n' for i in range(10)))
    done = subprocess.run([worker, '--store', f'agent:{here.socket}', '-i', 'jobs'], cwd=here.path, env=here.environment,
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    report.check(done.returncode == 0 and all(f'text {i}' in done.stdout for i in range(10)), 'takt-print does its jobs',
                 done)
    refused = subprocess.run([worker, '--store', f'agent:{here.socket}', '--stream', 'jobs'], cwd=here.path, text=True,
                             env=here.environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    report.check(refused.returncode == 64 and 'server is needed' in refused.stderr, 'an agent has no streams', refused)


def units(report, here):
    """A limit that counts several units, of the program's policy alone."""
    several = ['--store', f'agent:{here.socket}', '--rate', '90/h:requests', '--burst', '90', '--rate', '50000/s:tokens',
               '--burst', '1000', '--rate', '400/h:images', '--burst', '400']
    amounts = ['--cost', 'tokens=1000', '--cost', 'images=30']
    done = [here.takt(*words, *several, *amounts, 'model', '--', 'true', **options)
            for words, options in ((['run'], {}), (['map'], {'input': 'a\nb\nc\n'}))]
    told = here.takt('peek', '--json', *several, 'model')
    rules = [(rule['unit'], rule['remaining']) for rule in json.loads(told.stdout)['rules']]
    report.check(all(one.returncode == 0 for one in done) and rules[0] == ('requests', 86) and rules[2] == ('images', 280),
                 'programs take amounts of several units through the agent', (done, rules))
    for more, sentence in ((['--cost', 'images=500'], '500 images can never be given'),
                           ([], 'no amount of images, which its rules count'),
                           (['--cost', 'images=300', '--try'], '')):
        refused = here.takt('run', *several, '--cost', 'tokens=5', *more, 'model', '--', 'true')
        report.check(refused.returncode == (75 if '--try' in more else 64) and sentence in refused.stderr,
                     f'refused: {more}', refused)


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
    """The agent dies; a waiter continues with the next agent."""
    store = f'agent:{here.socket}'
    first = here.takt('run', '--store', store, '--rate', '1/s', 'again', '--', 'true')
    second = here.start('run', '--store', store, '--rate', '1/s', 'again', '--', 'echo', 'started',
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end(agent, signal.SIGKILL)
    next_agent = here.agent()
    output = second.communicate(timeout=60)[0]
    report.check(first.returncode == 0 and second.returncode == 0 and b'started' in output,
                 'a waiting program goes on with the next agent', (first, output))
    other = here.write('other.yaml', 'namespace: other\nlimits: [{name: again, rules: [{rate: 1/s}]}]\n')
    refused = here.takt('peek', '--policy', other, '--store', store, 'again')
    report.check(refused.returncode == 69 and "the program's is \"other\"" in refused.stderr and
                 'no agent answers' not in refused.stderr, 'another namespace is refused with a clear error', refused)
    waits = here.start('run', '--policy', other, '--store', store, 'again', '--', 'true', stderr=subprocess.PIPE)
    said = until(waits.stderr.fileno(), b'namespace')
    report.check(b'this agent serves the namespace "default"' in said, 'also to a program that waits', said)
    waits.kill()
    ends.wait(waits)
    wrong = here.takt('peek', '--store', f'{store}?timeout=5s', '--rate', '1/s', 'again')
    report.check(wrong.returncode == 64 and '"?timeout=5s": remove it' in wrong.stderr, 'agent: has no parameters', wrong)
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
        units(report, here)
        workers(report, here)
        holds(report, here)
        goes_on(report, here, agent)
    report.end()


main()
