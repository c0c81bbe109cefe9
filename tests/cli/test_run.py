#!/usr/bin/env python3
"""`takt run`: the command that it runs, its arguments and signals, and the exit status of a refusal."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys

from command import FORKS, TAKT, end, ends, place, tap, told, until, until_waiting
from terminal import terminal as on_terminal

ANY = ['--rate', '1000/s', '--burst', '100']
SLOW = ['--rate', '1/h']
ONE = ['--concurrency', '1', 'one']
LEASED = ['--concurrency', '1', '--lease', '1s', 'one']

POLICY = '''limits:
  - name: mail
    rules: [{rate: 1000/s, burst: 100}]
  - name: sms
    rules: [{rate: 1000/s, burst: 100}]
'''

# Name, arguments, status, what is said.
REFUSED = [
    ('no arguments', [], 64, 'which limit?'),
    ('no limit', ['--rate', '20/s', '--', 'echo', 'hi'], 64, 'LIMIT is missing; write a limit\'s name before the --, like mail -- "echo"'),
    ('no command', [*ANY, 'mail'], 64, 'the command is missing'),
    ('no command after --', [*ANY, 'mail', '--'], 64, 'the command is missing'),
    ('a misspelt option', [*ANY, 'mail', '--cots', '2', '--', 'true'], 64, 'did you mean --cost?'),
    ('an unknown option', [*ANY, 'mail', '--xyzzy', '--', 'true'], 64, '--xyzzy'),
    ('a concurrency of 0', ['--concurrency', '0', 'mail', '--', 'true'], 64, 'from 1 to 1000000000'),
    ('a lease without concurrency', [*ANY, '--lease', '5s', 'mail', '--', 'true'], 64, '--lease belongs to'),
    ('a lease that is too short', ['--concurrency', '1', '--lease', '1ms', 'one', '--', 'true'], 64, '1s to 1day'),
    ('concurrency and a policy', ['--concurrency', '1', '-p', 'takt.yaml', 'one', '--', 'true'], 64, 'leave out --policy'),
    ('a command that is not there, with concurrency', [*ONE, '--', './gone'], 127, 'cannot run ./gone: '),
    ('a command that cannot be run, with concurrency', [*ONE, '--', '/etc/passwd'], 126, 'cannot run /etc/passwd: '),
    ('a cost of 0', [*ANY, '--cost', '0', 'mail', '--', 'true'], 64, 'from 1 to 1000000, not "0"'),
    ('a cost that is no number', [*ANY, '--cost', '2x', 'mail', '--', 'true'], 64, 'not "2x"'),
    ('a cost beyond the burst', [*SLOW, '--cost', '2', 'mail', '--', 'true'], 64, 'a cost of 2 can never be given: rules[0] (1/h) gives at most 1 at once; ask for less, or give the rule burst: 2'),
    ('a priority of 10', [*ANY, '--priority', '10', 'mail', '--', 'true'], 64, 'from 0 to 9, not "10"'),
    ('a duration without unit', [*ANY, '--max-wait', '5', 'mail', '--', 'true'], 64, '--max-wait: '),
    ('a duration of 0', [*ANY, '--max-wait', '0s', 'mail', '--', 'true'], 64, '--max-wait'),
    ('a rate that is none', ['--rate', 'fast', 'mail', '--', 'true'], 64, 'fast'),
    ('a burst before the rate', ['--burst', '3', '--rate', '1/s', 'mail', '--', 'true'], 64, 'write --rate'),
    ('a mode before no rate', ['--on-store-failure', 'open', 'mail', '--', 'true'], 64, 'belongs to a --rate'),
    ('a mode that is none', [*ANY, '--on-store-failure', 'opne', 'mail', '--', 'true'], 64, 'did you mean "open"?'),
    ('a way to keep no rate', ['--mode', 'shadow', 'mail', '--', 'true'], 64, '--mode belongs to a --rate'),
    ('a way that is none', [*ANY, '--mode', 'shadows', 'mail', '--', 'true'], 64, 'did you mean "shadow"?'),
    ('a rate and a policy', [*ANY, '-p', 'takt.yaml', 'mail', '--', 'true'], 64, 'leave out --policy'),
    ('an empty key', [*ANY, 'mail:', '--', 'true'], 64, 'LIMIT[:KEY]'),
    ('a key for no limit around', [*ANY, '--within-key', 'eu', 'mail', '--', 'true'], 64, 'it is within no other limit; leave out --within-key'),
    ('too many keys', [*ANY, *4 * ['--within-key', 'eu'], 'mail', '--', 'true'], 64, 'at most 3 times, once for each outer limit'),
    ('a long key around', [*ANY, '--within-key', 'k' * 1025, 'mail', '--', 'true'], 64, 'at most 1024 bytes'),
    ('a long key', [*ANY, 'mail:' + 'k' * 1025, '--', 'true'], 64, 'LIMIT[:KEY]'),
    ('a limit with a strange name', [*ANY, 'ma il', '--', 'true'], 64, 'ma il'),
    ('no policy', ['mail', '--', 'true'], 78, 'or give a --rate'),
    ('a policy that is not there', ['-p', 'gone.yaml', 'mail', '--', 'true'], 78, 'gone.yaml'),
    ('a store that is none', [*ANY, '-s', 'tape:', 'mail', '--', 'true'], 64, 'tape'),
    ('a store that cannot be', [*ANY, '-s', 'file:/dev/null/x.mdb', 'mail', '--', 'true'], 69, '/dev/null'),
    ('a command that is not there', [*ANY, 'mail', '--', './gone'], 127, 'cannot run ./gone: No such file'),
    ('a command that cannot be run', [*ANY, 'mail', '--', '/etc/passwd'], 126, 'Permission denied'),
]


def refusals(report):
    for name, arguments, status, words in REFUSED:
        with place() as here:
            done = here.takt('run', *arguments)
            report.check(done.returncode == status and words in done.stderr and not done.stdout,
                         f'{name}: {status}', f'wanted {status} and {words!r}\n{told(done)}')


def passes_on(report, here):
    for status in (0, 1, 3, 75, 255):
        done = here.takt('run', *ANY, 'mail', '--', 'sh', '-c', f'exit {status}')
        report.check(done.returncode == status, f'the command\'s status {status} is passed on', told(done))
    done = here.takt('run', *ANY, 'mail', '--', 'sh', '-c', 'kill -9 $$')
    report.check(done.returncode == -signal.SIGKILL, 'and so is a signal that ended it', told(done))

    done = here.takt('run', *ANY, 'mail', '--', 'sh', '-c', 'cat; printf "%s|" "$@"; pwd; echo "$WORD" >&2', 'sh',
                     '--cost', '', 'a b', '{}', input='in\n', env={**here.environment, 'WORD': 'out'})
    report.check(done.stdout == f'in\n--cost||a b|{{}}|{here.path}\n' and done.stderr == 'out\n',
                 'arguments, input, output, environment and folder are the command\'s', told(done))
    done = here.takt('run', 'mail', *ANY, 'echo', '--rate')
    report.check(done.stdout == '--rate\n', 'without -- the command begins at the second word', told(done))
    done = here.takt('run', *ANY, '--cost', '100', '--priority', '0', 'mail:a key', '--', 'true')
    report.check(done.returncode == 0, 'a cost, a priority and a key are taken', told(done))


def without_store(report, here):
    """No server listens at that socket."""
    gone = ['-s', f'unix:{here.path}/gone.sock']
    done = here.takt('run', *gone, *SLOW, '--on-store-failure', 'open', 'mail', '--', 'echo', 'ran')
    report.check(done.returncode == 0 and done.stdout == 'ran\n' and 'limit "mail": everything starts' in done.stderr,
                 'open runs the command without the store, and says so', told(done))
    done = here.takt('run', *gone, *SLOW, '--on-store-failure', 'open', '--try', 'mail', '--', 'echo', 'ran')
    report.check(done.returncode == 0 and done.stdout == 'ran\n', 'also with --try', told(done))
    done = here.takt('run', *gone, *SLOW, '--on-store-failure', 'closed', 'mail', '--', 'echo', 'ran')
    report.check(done.returncode == 69 and not done.stdout and 'limit "mail": nothing starts' in done.stderr,
                 'closed fails at once: 69', told(done))
    for mode in ('wait', 'share'):
        done = here.takt('run', *gone, *SLOW, '--on-store-failure', mode, '--max-wait', '2s', 'mail', '--', 'true')
        report.check(done.returncode == 69 and 'the store was unreachable' in done.stderr,
                     f'{mode}, by one that has heard of nobody, waits: 69 at the deadline',
                     told(done))


def in_time(report, here):
    done = here.takt('run', *SLOW, 'slow', '--', 'true')
    report.check(done.returncode == 0, 'the first permit of a slow limit is at hand', told(done))
    for option in (['--max-wait', '5s'], ['--try']):
        done = here.takt('run', *SLOW, *option, 'slow', '--', 'touch', 'ran')
        report.check(done.returncode == 75 and not (here.path / 'ran').exists(),
                     f'the second is not, with {option[0]}: 75, and nothing is run', told(done))
    done = here.takt('run', *SLOW, '--try', 'slow:other', '--', 'true')
    report.check(done.returncode == 0, 'another key has a ledger of its own', told(done))


def units(report, here):
    """Requests and tokens, each with its rule."""
    both = ['--rate', '2/h:requests', '--burst', '2', '--rate', '1000/h', '--burst', '1000']
    left, done = [], []
    for cost in ('300', '300', '1'):
        done.append(here.takt('run', *both, '--try', '--cost', cost, 'llm', '--', 'true').returncode)
        left.append(json.loads(here.takt('peek', '--json', *both, 'llm').stdout)['remaining'])
    report.check(done == [0, 0, 75] and left == [700, 0, 0], 'two requests an hour, whatever they cost', (done, left))
    done = [here.takt('run', *both, '--try', '--cost', cost, 'llm:a', '--', 'true').returncode for cost in ('990', '11')]
    report.check(done == [0, 75], '1000 tokens an hour, however few requests', done)
    done = here.takt('run', '--rate', '2/h:Tokens', 'llm', '--', 'true')
    report.check(done.returncode == 64 and 'write requests, or the name of a unit' in done.stderr, 'a unit that is none',
                 told(done))
    named = ['--rate', '9/h:requests', '--burst', '9', '--rate', '1000/h:tokens', '--burst', '1000']
    done = here.takt('run', *named, '--cost', 'tokens=400', 'named', '--', 'true')
    left = json.loads(here.takt('peek', '--json', *named, 'named').stdout)['remaining']
    report.check(done.returncode == 0 and left == 600, 'an amount of a unit that the rules name', (told(done), left))
    for options, words in ((['--cost', 'tokens=1001'], '1001 tokens can never be given: rules[1] (1000/h tokens'),
                           ([], 'no amount of tokens, which its rules count; state it'),
                           (['--cost', '400'], 'state the amount of tokens instead'),
                           (['--cost', 'tokens=0'], 'from 1 to 1000000, not "0"'),
                           (['--cost', 'tokens=-4'], 'not "-4"'),
                           (['--cost', 'tokens=4', '--cost', 'tokens=4'], 'two amounts of tokens'),
                           (['--cost', 'tokens=4', '--cost', 'bytes=4'], 'an amount of "bytes"; its rules count tokens'),
                           (['--cost', 'tokens=4', '--cost', '=4'], 'an amount of ""')):
        done = here.takt('run', *named, *options, 'named', '--', 'true')
        report.check(done.returncode == 64 and words in done.stderr, f'refused: {options}', told(done))
    left = json.loads(here.takt('peek', '--json', *named, 'named').stdout)['rules']
    report.check([rule['remaining'] for rule in left] == [8, 600], 'which takes nothing', left)
    done = here.takt('map', *named, '--cost', 'tokens=300', 'mapped', '--', 'true', input='a\nb\n')
    left = json.loads(here.takt('peek', '--json', *named, 'mapped').stdout)['remaining']
    report.check(done.returncode == 0 and left == 400, 'and takt map takes it for each job', (told(done), left))


def levels(report, here):
    """Each limit around has a ledger for each of its keys."""
    here.write('takt.yaml', 'limits:\n  - {name: job, rules: [{rate: 1/h, burst: 9}], within: team}\n'
               '  - {name: team, rules: [{rate: 1/h, burst: 9}], within: vendor}\n'
               '  - {name: vendor, rules: [{rate: 1/h, burst: 9}]}\n')
    words = ['job:a', '--within-key', 'red', '--within-key', 'eu', '--', 'true']
    done = here.takt('run', *words)
    also = here.takt('run', '--try', 'job:a', '--within-key', '', '--within-key', 'eu', '--', 'true')
    mapped = here.takt('map', *words, input='1\n2\n')
    left = {target: json.loads(here.takt('peek', '--json', target).stdout)['remaining']
            for target in ('job', 'job:a', 'team', 'team:red', 'vendor', 'vendor:eu')}
    report.check(done.returncode == also.returncode == mapped.returncode == 0 and
                 left == {'job': 9, 'job:a': 5, 'team': 8, 'team:red': 6, 'vendor': 9, 'vendor:eu': 5},
                 'a key for each limit around', f'{left}\n{told(done)}{told(also)}{told(mapped)}')
    done = here.takt('map', 'team', '--within-key', 'eu', '--within-key', 'more', '--', 'true', input='1\n')
    report.check(done.returncode == 64 and 'it is within 1 other limit, but --within-key' in done.stderr,
                 'a key more than there are limits around: 64', told(done))
    done = here.takt('run', 'job:a', '--within', 'team', '--', 'true')
    report.check(done.returncode == 64 and '--within-key names a key' in done.stderr,
                 '--within is no abbreviation of --within-key: 64', told(done))


def held(here):
    return json.loads(here.takt('peek', '--json', *ONE).stdout)['held']


def begin(here, words, script, before=':', **options):
    """Starts a run whose command reports its start."""
    process = here.start('run', *words, '--', 'sh', '-c', f'{before}; echo begun; {script}', **options)
    until(process.stdout.fileno(), b'begun\n')
    return process


def holds(report, here):
    """With concurrency the permit is held until the command ends, however it does."""
    for status in (0, 1, 3, 75, 255):
        done = here.takt('run', *ONE, '--', 'sh', '-c', f'exit {status}')
        report.check(done.returncode == status and held(here) == 0, f'held: the status {status} is passed on', told(done))
    done = here.takt('run', *ONE, '--', 'sh', '-c', 'kill -9 $$')
    report.check(done.returncode == -signal.SIGKILL and held(here) == 0, 'held: and a signal that ended it', told(done))
    done = here.takt('run', *ONE, '--', 'sh', '-c', 'cat; printf "%s|" "$@"; pwd; echo "$WORD" >&2', 'sh', '--cost', '',
                     input='in\n', env={**here.environment, 'WORD': 'out'})
    report.check(done.stdout == f'in\n--cost||{here.path}\n' and done.stderr == 'out\n',
                 'held: arguments, input, output, environment and folder are the command\'s', told(done))
    numbers = [int(here.takt('run', *ONE, '--', 'sh', '-c', 'echo $TAKT_FENCE').stdout) for _ in range(3)]
    report.check(0 < numbers[0] < numbers[1] < numbers[2], 'held: $TAKT_FENCE grows', numbers)
    done = here.takt('run', *ANY, 'mail', '--', 'sh', '-c', 'echo ${TAKT_FENCE-none}',
                     env={**here.environment, 'TAKT_FENCE': '7'})
    report.check(done.stdout == 'none\n', 'without concurrency there is no number', told(done))
    for command, status in (('./gone', 127), ('/etc/passwd', 126)):
        done = here.takt('run', *ONE, '--', command)
        report.check(done.returncode == status and held(here) == 0, f'{status}, and nothing is held', told(done))

    here.fifo('gate')
    process = begin(here, ONE, 'exec cat gate')
    done = here.takt('run', '--try', *ONE, '--', 'touch', 'ran')
    report.check(held(here) == 1 and done.returncode == 75 and not (here.path / 'ran').exists(),
                 'while it runs, nothing else does', told(done))
    done = here.takt('run', '--max-wait', '100ms', *ONE, '--', 'touch', 'ran')
    report.check(done.returncode == 75 and not (here.path / 'ran').exists(), 'however long it waits', told(done))
    done = here.takt('run', '--concurrency', '1', 'one:other', '--', 'true')
    report.check(done.returncode == 0, 'but for another key', told(done))
    here.open_gate('gate')
    status, _, messages = end(process)
    report.check(status == 0 and held(here) == 0, 'it is given back at the end', messages)
    done = here.takt('run', '--try', *ONE, '--', 'true')
    report.check(done.returncode == 0, 'at once', told(done))


def keeps_the_password(report, here):
    """A real password in the URL of a store is seen to by tests/kit."""
    environment = {**here.environment, 'TAKT_REDIS_PASSWORD': 'canary', 'OTHER': 'kept'}
    for name, words in (('run', [*ANY, 'mail', '--', 'env']), ('run', [*ONE, '--', 'env']),
                        ('map', [*ANY, 'mail', '--', 'env'])):
        done = here.takt(name, *words, env=environment, input='A=b\n')
        report.check(done.returncode == 0 and 'OTHER=kept' in done.stdout and 'canary' not in done.stdout,
                     f'{name} {words[-4]}: the environment without the password', told(done))


def one_at_a_time(report, here):
    """Six runs at once: a folder that only one of them can make."""
    work = 'mkdir busy || echo clash >>log; seq 20000 | tail -n 1; rmdir busy; echo done >>log'
    processes = [here.start('run', *ONE, '--', 'sh', '-c', work) for _ in range(6)]
    ended = [end(process) for process in processes]
    report.check([status for status, _, _ in ended] == [0] * 6 and here.read('log') == 'done\n' * 6 and held(here) == 0,
                 'no two run at once', f'{ended}\n{here.read("log")}')


def held_signals(report, here):
    """A signal goes to the command, and its status is the status of the run."""
    here.fifo('gate')
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        process = begin(here, ONE, 'exec cat gate')
        process.send_signal(number)
        status, _, messages = end(process)
        report.check(status == -number and held(here) == 0, f'{number.name} is passed on, and ends the command',
                     f'ended with {status}\n{messages}')
    process = begin(here, ONE, 'while :; do :; done', before='trap "echo told; exit 7" TERM')
    process.send_signal(signal.SIGTERM)
    status, output, messages = end(process)
    report.check(status == 7 and output == 'told\n' and held(here) == 0, 'or does not: it may see to it first',
                 f'ended with {status}\n{output}{messages}')
    process = begin(here, ONE, 'exec cat gate')
    other = here.start('run', *ONE, '--', 'touch', 'ran')
    until_waiting(here, ONE, 1)
    other.send_signal(signal.SIGTERM)
    status, _, messages = end(other)
    report.check(status == -signal.SIGTERM and held(here) == 1 and not (here.path / 'ran').exists(),
                 'who waits for a permit gives up the place in line', f'ended with {status}\n{messages}')
    here.open_gate('gate')
    end(process)


def nothing_left(report, here):
    """Processes that a command leaves behind are ended if it was told to end, and continue if it ended by itself."""
    here.fifo('gate')
    for words, name in ((['sh', '-c', 'trap "cat gate & exit 1" TERM; cat gate & echo runs; wait'], 'forks when it is told to end'),
                        (['sh', '-c', '(trap "" TERM; while :; do cat gate; done) & echo runs; wait'], 'leaves one deaf to SIGTERM'),
                        ([sys.executable, '-c', FORKS], 'forks all the time')):
        process = here.start('run', *ONE, '--', *words)
        until(process.stdout.fileno(), b'runs')
        process.send_signal(signal.SIGTERM)
        status, _, messages = end(process)  # of all that writes to its pipes
        report.check(status in (1, -signal.SIGTERM) and held(here) == 0, f'nothing is left of a command that {name}',
                     f'ended with {status}\n{messages}')
    for setsid, last in (('setsid', 'cat gate'), ('', 'true')):
        (here.path / 'pid').unlink(missing_ok=True)
        work = f'{setsid} sh -c "$0" >/dev/null 2>&1 & while [ ! -s pid ]; do :; done; echo runs; {last}'
        process = here.start('run', *ONE, '--', 'sh', '-c', work, 'echo $$ >pid; exec cat gate')
        until(process.stdout.fileno(), b'runs')
        if setsid:
            process.send_signal(signal.SIGTERM)
        status, _, messages = end(process)
        left = int(here.read('pid'))
        report.check(status == (-signal.SIGTERM if setsid else 0) and 'cat gate' in ends.named([left]) and held(here) == 0,
                     'a daemon goes on' if setsid else 'so does what is left by a command that ends by itself',
                     f'ended with {status}\n{messages}{ends.named([left])}')
        os.kill(left, signal.SIGKILL)


def keys(report, here):
    """The terminal sends Ctrl-C to the command itself, with any input of takt. Otherwise takt passes the signal on."""
    script = 'trap "echo told" INT; trap "exit 7" USR1; echo begun; while :; do :; done'
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
        os.execve(TAKT, [TAKT, 'run', *ONE, '--', 'sh', '-c', script], here.environment)
    try:
        until(terminal, b'begun')
        os.kill(pid, signal.SIGSTOP)  # two at a time would be one
        os.waitpid(pid, os.WUNTRACED)
        os.write(terminal, b'\x03')
        got = until(terminal, b'told')
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGUSR1)  # comes after all that was passed on before
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(OSError):  # how a terminal ends
            while True:
                got += os.read(terminal, 65536)
    finally:
        os.close(terminal)
    report.check(status == 7 and got.count(b'told') == 1, 'Ctrl-C comes to the command once', f'{status}\n{got}')

    here.fifo('gate')
    master, slave = os.openpty()
    process = begin(here, ONE, 'exec cat gate', stdin=slave, start_new_session=True)
    process.send_signal(signal.SIGINT)
    status, _, messages = end(process)
    os.close(master)
    os.close(slave)
    report.check(status == -signal.SIGINT, 'of a terminal that is not its own nothing comes',
                 f'ended with {status}\n{messages}')


def ignored(report, here):
    """What nohup and a shell's background jobs ignore stays ignored, and nothing else is."""
    def mask(*command):
        done = ends.run(['sh', '-c', 'trap "" HUP USR2; exec "$@"', 'sh', *command, 'grep', 'SigIgn',
                         '/proc/self/status'], cwd=here.path, env=here.environment, capture_output=True, text=True)
        return done.stdout.split()[-1:], told(done)

    before, _ = mask()  # whoever started the tests may ignore others as well
    for words in (ONE, [*ANY, 'mail']):
        after, words_told = mask(TAKT, 'run', *words, '--')
        report.check(after and after == before, f'ignored: what was ignored before ({words[-1]})',
                     f'{before}\n{words_told}')


def stop(here, process):
    """Stops it, but not inside a transaction, where it would delay all users of the file."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        if here.takt('peek', *LEASED).returncode == 0:
            break
        process.send_signal(signal.SIGCONT)


def leases(report, here):
    """A killed run releases nothing: its lease ends by itself. A run that was stopped reports the loss."""
    long = ['--concurrency', '1', '--lease', '1h', 'long']
    for words, gate in ((long, 'long-gate'), (LEASED, 'gate')):
        here.fifo(gate)
        process = begin(here, words, f'exec cat {gate}')
        process.kill()
        ends.wait(process)
        here.open_gate(gate)
    done = here.takt('run', '--try', *long, '--', 'true')
    report.check(done.returncode == 75, 'after kill -9 the permit is still held', told(done))
    done = here.takt('run', '--max-wait', '20s', *LEASED, '--', 'true')
    report.check(done.returncode == 0, 'until its lease is over', told(done))

    process = begin(here, LEASED, 'exec cat gate')
    stop(here, process)
    done = here.takt('run', '--max-wait', '20s', *LEASED, '--', 'true')
    report.check(done.returncode == 0, 'and likewise of one that stands still', told(done))
    process.send_signal(signal.SIGCONT)
    messages = until(process.stderr.fileno(), b'\n')
    report.check(b'lease' in messages, 'which says so when it goes on', messages)
    here.open_gate('gate')
    status, _, messages = end(process)
    report.check(status == 0 and held(here) == 0, 'and its command comes to its end', messages)


def waiting(here):
    return json.loads(here.takt('peek', '--json', *SLOW, 'slow').stdout)['waiting']


def signals(report, here):
    here.takt('run', *SLOW, 'slow', '--', 'true')
    for number in (signal.SIGTERM, signal.SIGINT):
        process = here.start('run', *SLOW, 'slow', '--', 'touch', 'ran')
        until_waiting(here, [*SLOW, 'slow'], 1)
        process.send_signal(number)
        status, _, messages = end(process)
        left = waiting(here)
        report.check(status == -number and left == 0 and not (here.path / 'ran').exists(),
                     f'{number.name} ends the wait, and the place in line is given up',
                     f'ended with {status}, {left} waiting\n{messages}')


def finds_the_policy(report, here):
    done = here.takt('run', '-p', here.write('named.yaml', POLICY), 'mail', '--', 'echo', 'ran')
    report.check(done.stdout == 'ran\n', '--policy names the policy', told(done))
    done = here.takt('run', 'mail', '--', 'echo', 'ran', env={**here.environment, 'TAKT_POLICY': 'named.yaml'})
    report.check(done.stdout == 'ran\n', '$TAKT_POLICY names the policy', told(done))
    here.write('takt.yaml', POLICY)
    for before in ([], ['-p', 'named.yaml']):
        done = here.takt(*before, 'run', 'mail', '--', 'echo', 'ran')
        report.check(done.stdout == 'ran\n', f'takt {" ".join(before)} run finds it', told(done))
    done = here.takt('run', 'mial', '--', 'true')
    report.check(done.returncode == 64 and 'did you mean "mail"? There are: mail, sms' in done.stderr,
                 'a misspelt limit: what was meant, and what there is', told(done))
    done = here.takt('run', 'fax', '--', 'true')
    report.check(done.returncode == 64 and 'there is no limit "fax"; there are: mail, sms' in done.stderr,
                 'an unknown limit: what there is', told(done))
    here.write('takt.yaml', POLICY.replace('1000/s', 'often', 1))
    done = here.takt('run', 'mail', '--', 'true')
    report.check(done.returncode == 78 and 'takt.yaml:3: ' in done.stderr, 'a bad policy: 78, file and line',
                 told(done))


def finds_the_store(report, here):
    os.mkdir(here.path / 'other')
    here.takt('run', *SLOW, 'slow', '--', 'true')
    done = here.takt('run', *SLOW, '--try', '-s', f'file:{here.path}/other/', 'slow', '--', 'true')
    report.check(done.returncode == 0 and os.listdir(here.path / 'other'), '--store goes before $TAKT_STORE', told(done))
    without = {name: value for name, value in here.environment.items() if name != 'TAKT_STORE'}
    os.mkdir(here.path / 'third')
    here.write('takt.yaml', f'store: file:{here.path}/third/\n{POLICY}')
    done = here.takt('run', 'mail', '--', 'true', env=without)
    report.check(done.returncode == 0 and os.listdir(here.path / 'third'), 'else the policy\'s is used', told(done))
    done = here.takt('run', *ANY, 'mail', '--', 'true', env=without)
    report.check(done.returncode == 0 and (here.path / '.local/state/takt').is_dir(), 'else one below $HOME', told(done))


def shadow(report, here):
    """No run waits for an hour, and each says what would have happened."""
    until_taken = f'until {TAKT} peek --rate 1/h hourly | grep -q "remaining  *0 of"; do :; done; exit 3'
    for words in ('would have let this (start at once|wait for )', 'would still let this wait'):
        done = here.takt('run', *SLOW, '--mode', 'shadow', 'hourly', '--', 'sh', '-c', until_taken)
        report.check(done.returncode == 3 and re.search(f'shadow: hourly {words}', done.stderr), f'in shadow: it {words}',
                     told(done))
    done = here.takt('run', *SLOW, '--mode', 'shadow', '--try', 'hourly', '--', 'true')
    report.check(done.returncode == 0 and 'hourly would have refused this' in done.stderr, 'a try is let pass', told(done))
    done = here.takt('run', *SLOW, '--mode', 'shadow', '--cost', '9', 'hourly', '--', 'true')
    report.check(done.returncode == 0 and 'hourly would have refused this' in done.stderr, 'so is a cost that is too high',
                 told(done))
    first = here.start('run', *ONE[:2], '--mode', 'shadow', 'one', '--', 'sh', '-c', 'echo on; read line', stdin=subprocess.PIPE)
    until(first.stdout.fileno(), b'on')
    done = here.takt('run', *ONE[:2], '--mode', 'shadow', 'one', '--', 'echo', 'too')
    report.check(done.returncode == 0 and done.stdout == 'too\n', 'two at a time where one would be', told(done))
    end(first)


def says_what_it_waits_for(report, here):
    """A line on a terminal, when the wait is long; nothing anywhere else."""
    policy = ['--rate', '1/h', 'slow']
    with on_terminal(here, [TAKT, 'run', *policy, '--', 'echo', 'ran']) as screen:
        report.check(screen.end() == 0 and screen.screen.plain == 'ran\r\n', 'a short wait has no line on a terminal',
                     repr(screen.screen.plain))
    with on_terminal(here, [TAKT, 'run', *policy, '--', 'echo', 'ran'], columns=40) as screen:
        screen.until(lambda it: 'takt run: position 1, about 59 min' in it.plain, 'its position')
        here.takt('block', *policy, '10min', '--reason', 'wartung\u00fc')
        block = r'takt run: blocked until (\d\d:\d\d:\d\d: wart|\d{4}-\d\d-\d\d \d\d:)~\r'  # the second one: tomorrow
        screen.until(lambda it: re.search(block, it.plain), 'the block')
        report.check(True, 'a long one has: the position, then a block, cut to the terminal')
        here.takt('unblock', *policy)
        here.takt('reset', *policy)
        done = screen.end()
        report.check(done == 0 and re.search(r'takt run: [^\r\n]*\rran\r\n$', screen.screen.plain), 'and the line is wiped',
                     repr(screen.screen.plain))
    gone = ['-s', f'unix:{here.path}/gone.sock', *policy]
    with on_terminal(here, [TAKT, 'run', *gone, '--', 'true']) as screen:
        screen.until(lambda it: 'takt run: store unreachable, retrying (--max-wait to give up)' in it.plain, 'the store')
        screen.process.terminate()
        report.check(screen.end() == -signal.SIGTERM, 'a store that is lost is named, and how to give up')
    fast = ['--rate', '100/s', 'fast']
    here.takt('block', *fast, '3s')
    done = here.takt('run', *fast, '--', 'echo', 'ran', env={**here.environment, 'TERM': 'xterm'})
    report.check(done.returncode == 0 and done.stdout == 'ran\n' and not done.stderr,
                 'where standard error is no terminal there is nothing', told(done))


def two_rates(report, here):
    """One name, two rates: the second run reports which rate is valid."""
    here.takt('run', '--rate', '1/min', 'zz', '--', 'true')
    done = here.takt('run', '--rate', '20/s', '--max-wait', '30s', 'zz', '--', 'true')
    lines = done.stderr.splitlines()
    report.check(done.returncode == 75 and 'limit "zz": 20/s here, but 1/min is in force' in lines[0]
                 and len(lines) == 2, 'another rate under the same name: one line says which one holds', told(done))
    done = here.takt('run', '--rate', '1/min', '--max-wait', '30s', 'zz', '--', 'true')
    report.check('here, but' not in done.stderr, 'the same rate: none', told(done))


def main():
    report = tap.Report()
    report.check(os.access(TAKT, os.X_OK), 'the command is there', TAKT)
    refusals(report)
    for part in (passes_on, in_time, units, levels, holds, keeps_the_password, one_at_a_time, held_signals,
                 nothing_left, keys, ignored, leases, without_store, signals, shadow, finds_the_policy, finds_the_store,
                 says_what_it_waits_for, two_rates):
        with place() as here:
            part(report, here)
    report.end()


if __name__ == '__main__':
    main()
