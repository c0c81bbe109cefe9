#!/usr/bin/env python3
"""`takt map`: lines become jobs, failures, further attempts, and the written results."""

import json
import os
import stat

from command import end, ends, over_quota, run, told, until, until_waiting

ANY = ['--rate', '10000/s', '--burst', '1000', 'any']
SHOW = ['--', 'sh', '-c', 'printf "<%s>" "$@"; echo', 'sh']
MEASURE = ['--', 'sh', '-c', 'echo "$1" | wc -c', 'sh']

# Name, input, words after -c SCRIPT (None: the length is shown instead), output.
LINES = [
    ('a line becomes the last argument', 'a b\n$HOME\n', [], '<a b>\n<$HOME>\n'),
    ('{} becomes the line wherever it stands', 'x\ny\n', ['{}', 'a{}b{}', '{', '}', '{}{}'],
     '<x><axbx><{><}><xx>\n<y><ayby><{><}><yy>\n'),
    ('a {} in the line stays', '{}\n', ['-{}-'], '<-{}->\n'),
    ('the last line needs no newline', 'a\nb', [], '<a>\n<b>\n'),
    ('empty lines are passed over', '\n\na\n\nb\n\n', [], '<a>\n<b>\n'),
    ('CRLF is kept as it is', 'a\r\n\r\n', [], '<a\r>\n<\r>\n'),
    ('no input, no job', '', [], ''),
    ('only empty lines, no job', '\n\n', [], ''),
    ('bytes are bytes', b'\xff\xe4\x01\n', [], b'<\xff\xe4\x01>\n'),
    ('a long line arrives whole', 'x' * 131071 + '\n', None, '131072\n'),
]


def lines(report, here):
    for name, text, words, output in LINES:
        here.write('in', text)
        wanted = output if isinstance(output, bytes) else output.encode()
        command = MEASURE if words is None else SHOW + words
        done = here.takt('map', *ANY, '-i', 'in', *command, text=False)
        report.check(done.returncode == 0 and done.stdout == wanted, name, told(done)[:500])
        done = here.takt('map', *ANY, *command, text=False, input=(here.path / 'in').read_bytes())
        report.check(done.returncode == 0 and done.stdout == wanted, f'{name}, from a pipe', told(done)[:500])


def faults(report, here):
    here.write('in', b'good\nb\0d\n' + b'x' * 131072 + b'\n' + b'y' * 400000 + b'\nlast')
    done = here.takt('map', *ANY, '--json', '--undone', 'rest', '-i', 'in', '--', 'true')
    summary = json.loads(done.stdout)
    report.check(done.returncode == 1 and summary['done'] == 2
                 and summary['failed_lines'] == [{'line': number, 'status': None} for number in (2, 3, 4)]
                 and 'line 2 failed: an argument cannot contain a NUL' in done.stderr
                 and 'line 3 failed: an argument cannot have more than 131071 bytes' in done.stderr
                 and here.read('rest') == '', 'a line with NUL and a line too long fail, the others are done', told(done))

    here.write('in', '1\n2\n3\n')
    for name, command, status, words in [('not there', './gone', 127, 'cannot run ./gone'),
                                         ('not to be run', '/etc/passwd', 126, 'cannot run /etc/passwd')]:
        done = here.takt('map', *ANY, '--undone', 'rest', '-i', 'in', '--', command)
        report.check(done.returncode == status and words in done.stderr and sorted(here.read('rest').split()) ==
                     ['1', '2', '3'], f'a command that is {name}: {status} at once, every line is left', told(done))
    script = here.write('job-2', '#!/bin/sh\necho ran\n')
    os.chmod(script, stat.S_IRWXU)
    done = here.takt('map', *ANY, '-i', 'in', '--', './job-{}')
    report.check(done.returncode == 1 and done.stdout == 'ran\n' and 'failed: lines 1, 3\n' in done.stderr,
                 'a command that differs from line to line may be missing for some', told(done))

    done = here.takt('map', *ANY, '-i', 'in', '--', 'cat')
    report.check(done.returncode == 1 and 'failed: lines 1, 2, 3\n' in done.stderr, 'every line may fail', told(done))


# Name, arguments, status, what is said.
REFUSED = [
    ('no limit', [], 64, 'which limit?'),
    ('no command', [*ANY], 64, 'the command is missing'),
    ('0 jobs at a time', ['-j', '0', *ANY, '--', 'true'], 64, '--jobs takes a whole number from 1'),
    ('too many jobs at a time', ['-j', '5000', *ANY, '--', 'true'], 64, '--jobs takes'),
    ('retries that are none', ['--retries', '-1', *ANY, '--', 'true'], 64, '--retries takes'),
    ('a misspelt option', [*ANY, '--retry', '1', '--retires', '1', '--', 'true'], 64, 'did you mean --retries?'),
    ('an input that is not there', [*ANY, '-i', 'gone', '--', 'true'], 66, 'cannot read gone'),
    ('an input that is a folder', [*ANY, '-i', '.', '--', 'true'], 66, 'cannot read .'),
    ('a log that cannot be written', [*ANY, '--log', 'no/log', '--', 'true'], 73, 'cannot write to no/log'),
    ('a file for the rest that cannot be written', [*ANY, '--undone', 'no/rest', '--', 'true'], 73, 'no/rest'),
    ('a cost beyond the burst', ['--rate', '1/h', '--cost', '2', 'm', '-i', 'in', '--', 'true'], 64, 'a cost of 2'),
    ('a store that cannot be', [*ANY, '-s', 'file:/dev/null/x.mdb', '--', 'true'], 69, '/dev/null'),
    ('no policy', ['mail', '--', 'true'], 78, 'there is no policy'),
]


def refusals(report, here):
    here.write('in', 'a\n')
    for name, arguments, status, words in REFUSED:
        done = here.takt('map', *arguments)
        report.check(done.returncode == status and words in done.stderr and not done.stdout, f'{name}: {status}',
                     f'wanted {status} and {words!r}\n{told(done)}')
    for name, words in [('the input itself', ['-i', 'in']), ('the input by another name', ['-i', './in'])]:
        done = here.takt('map', *ANY, *words, '--undone', 'in', '--', 'true')
        report.check(done.returncode == 64 and here.read('in') == 'a\n', f'{name} is not written over', told(done))
    policy = 'limits: [{name: any, rules: [{rate: 1/s}]}]\n'
    here.write('own.yaml', policy)
    for option in ('--log', '--undone'):
        for name, words in (('--input', [*ANY, '-i', 'own.yaml']), ('--policy', ['-p', 'own.yaml', 'any'])):
            done = here.takt('map', *words, option, './own.yaml', '--', 'true')
            report.check(done.returncode == 64 and f'{name} and {option} are the same file' in done.stderr
                         and here.read('own.yaml') == policy, f'{option} does not write over {name}', told(done))
    done = here.takt('map', *ANY, '-i', 'in', '--log', 'new', '--undone', './new', '--', 'true')
    report.check(done.returncode == 64 and not (here.path / 'new').exists(), 'one new file is not --log and --undone', told(done))
    with open('/dev/full', 'w', encoding='utf-8') as full:
        done = here.takt('map', *ANY, '--json', '-i', 'in', '--', 'true', capture_output=False, stdout=full, stderr=-1)
        report.check(done.returncode == 74, 'a summary that is lost: 74', told(done))
    for option in ('--log', '--undone'):
        done = here.takt('map', *ANY, option, '/dev/full', '-i', 'in', '--', 'false')
        report.check(done.returncode == 74 and '/dev/full' in done.stderr, f'{option} on a full disk: 74', told(done))


def retries(report, here):
    # Fails until there is a file of the line's name; the second line never succeeds.
    job = ['--', 'sh', '-c', '[ -e "$1" ] || { [ "$1" = b ] || touch "$1"; exit 3; }', 'sh']
    here.write('in', 'a\nb\nc\n')
    done = here.takt('map', *ANY, '-j', '2', '--retries', '2', '--json', '--log', 'log', '--undone', 'rest', '-i', 'in',
                     *job)
    summary = json.loads(done.stdout)
    starts, ends = here.records('log', 'start'), here.records('log', 'end')
    attempts = sorted((record['line'], record['attempt']) for record in starts)
    report.check(done.returncode == 1 and summary['done'] == 2 and summary['retried'] == 4
                 and summary['failed_lines'] == [{'line': 2, 'status': 3}], 'a failed job is tried again', told(done))
    report.check(attempts == [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)], 'as often as was allowed', attempts)
    report.check('line 2 failed with status 3: "b"' in done.stderr and here.read('rest') == 'b\n',
                 'what failed for good is listed, and left for a rerun', told(done))
    statuses = sorted((record['line'], record['attempt'], record['status']) for record in ends)
    report.check(statuses == [(1, 1, 3), (1, 2, 0), (2, 1, 3), (2, 2, 3), (2, 3, 3), (3, 1, 3), (3, 2, 0)],
                 'the log has the status of each attempt', statuses)
    spent = json.loads(here.takt('peek', '--json', '--rate', '7/h', '--burst', '7', 'slow').stdout)['remaining']
    here.takt('map', '--rate', '7/h', '--burst', '7', 'slow', '--retries', '3', '--', 'false', input='x\n')
    left = json.loads(here.takt('peek', '--json', '--rate', '7/h', '--burst', '7', 'slow').stdout)['remaining']
    report.check((spent, left) == (7, 3), 'each attempt takes a permit', f'{spent} before, {left} after')
    done = here.takt('map', *ANY, '--', 'sh', '-c', 'kill -9 $$', input='x\n')
    report.check(done.returncode == 1 and 'line 1 was ended by signal 9 (Killed): "x"' in done.stderr,
                 'a job that a signal ends is failed', told(done))


def quota(report, here):
    """Four workers at once: by the slots in their logs, the quota was kept together."""
    processes = []
    for worker in range(4):
        text = ''.join(f'{worker * 25 + line}\n' for line in range(25))
        processes.append(here.start('map', '--rate', '100/s', '--burst', '5', 'shared', '-j', '8', '-q', '-i',
                                    here.write(f'in-{worker}', text), '--log', 'log', '--', 'sh', '-c',
                                    'echo "$1" >>done', 'sh'))
    ended = [end(process) for process in processes]
    starts = here.records('log', 'start')
    report.check([status for status, _, _ in ended] == [0] * 4, 'four workers share a limit', ended)
    broken = over_quota([record['slot_us'] for record in starts], 100, 1000000, 5)
    report.check(len(starts) == 100 and broken is None, 'together they keep to it', broken)
    early = [record for record in starts if record['start_us'] < record['slot_us']]
    report.check(not early, 'and nothing starts before its slot', early)
    report.check(len({record['worker'] for record in starts}) == 4 and len(here.records('log', 'end')) == 100,
                 'they may share a log')
    report.check(sorted(map(int, here.read('done').split())) == list(range(100)), 'each line is done once')


def at_most_n(report, here):
    """With three at a time, three wait for the gate and the fourth does not start before one of them ends."""
    gates = [here.fifo(f'gate-{line}') for line in range(1, 6)]
    process = here.start('map', *ANY, '-j', '3', '--log', 'log', '--', 'sh', '-c',
                         'echo "start $1"; cat "gate-$1"; echo "end $1"', 'sh', stdin=-1)
    process.stdin.write(b'1\n2\n3\n4\n5\n')
    process.stdin.close()
    process.stdin = None
    got = until(process.stdout.fileno(), b'start 3')
    for number in range(1, len(gates) + 1):
        here.open_gate(f'gate-{number}')
    status, output, messages = end(process)
    running = most = 0
    for line in here.read('log').splitlines():
        running += 1 if json.loads(line)['event'] == 'start' else -1
        most = max(most, running)
    report.check(status == 0 and most == 3 and (got.decode() + output).count('end') == 5, 'three at a time are three',
                 f'{most} at a time\n{got.decode()}{output}{messages}')


def at_most_n_in_all(report, here):
    """Two maps with eight jobs each share three permits."""
    words = ['--concurrency', '3', 'shared', '-q', '-j', '8']
    work = ['--', 'sh', '-c',
            'mkdir "busy-$1"; ls -d busy-* | wc -l >>counts; echo $TAKT_FENCE >>fences; rmdir "busy-$1"', 'sh']
    processes = [here.start('map', *words, '-i', here.write(f'in-{worker}', ''.join(
        f'{worker * 40 + line}\n' for line in range(40))), *work) for worker in range(2)]
    ended = [end(process) for process in processes]
    counts = [int(word) for word in here.read('counts').split()]
    report.check([status for status, _, _ in ended] == [0, 0] and len(counts) == 80, 'two maps share permits', ended)
    report.check(max(counts) <= 3, 'at most three jobs at a time in all', counts)
    fences = here.read('fences').split()
    report.check(len(set(fences)) == 80 and all(int(fence) > 0 for fence in fences), 'each has a number of its own', fences)
    standing = json.loads(here.takt('peek', '--json', '--concurrency', '3', 'shared').stdout)
    report.check(standing['held'] == standing['waiting'] == 0, 'and all is given back', standing)


def urgent_first(report, here):
    """Of two maps that wait for one permit the more urgent one has it first, though it came last."""
    here.write('takt.yaml', 'limits: [{name: one, concurrency: 1, lookahead: 10s}]')  # for machines that are held up
    gate = here.fifo('gate')
    holder = here.start('run', 'one', '--', 'sh', '-c', 'echo begun; exec cat "$1"', 'sh', gate)
    until(holder.stdout.fileno(), b'begun\n')
    maps = []
    for priority in (9, 0):
        text = here.write(f'in-{priority}', f'{priority}\n' * 2)
        maps.append(here.start('map', 'one', '-q', '-j', '2', '--priority', priority, '-i', text, '--', 'sh', '-c',
                               'echo "$1" >>order', 'sh'))
        until_waiting(here, ['one'], 2 * len(maps))
    here.open_gate('gate')
    ended = [end(process) for process in [holder, *maps]]
    report.check([status for status, _, _ in ended] == [0, 0, 0] and here.read('order').split() == ['0', '0', '9', '9'],
                 'the more urgent map goes first', ended)


def shadow(report, here):
    """All jobs start at once, instead of an hour apart; each says when it would have started."""
    text = ''.join(f'{i}\n' for i in range(6))
    for quiet in (False, True):
        done = here.takt('map', '--rate', '1/h', '--mode', 'shadow', 'hourly', '-j', '3', '--json', *(['-q'] if quiet else []),
                         '--', 'true', input=text)
        seen = json.loads(done.stdout)['shadow'][0]
        parts = sum(seen[field] for field in ('at_once', 'waited', 'refused', 'waiting', 'unmeasured'))
        report.check(done.returncode == 0 and seen['limit'] == 'hourly' and seen['acquires'] == 6 == parts
                     and seen['waiting'] >= 5, 'as JSON, what waits still included', told(done))
        said = f'shadow: hourly: of 6 acquires {seen["waited"]} would have waited'
        report.check((said in done.stderr) != quiet and seen['waited'] <= 1,  # the first, on a machine that was held up
                     'nothing is said if quiet' if quiet else 'a line says so', told(done))
    done = here.takt('map', *ANY, '--json', '--', 'true', input=text)
    report.check('shadow' not in json.loads(done.stdout), 'a limit that is enforced has none', told(done))


def killed(report, here):
    """What a map held that was killed is free after its lease."""
    gate = here.fifo('gate')
    words = ['--concurrency', '1', '--lease', '1s', 'one']
    process = here.start('map', *words, '--', 'sh', '-c', 'echo begun; exec cat "$1"', 'sh', stdin=-1)
    process.stdin.write(f'{gate}\n'.encode())
    process.stdin.flush()
    until(process.stdout.fileno(), b'begun\n')
    process.kill()
    ends.wait(process)
    done = here.takt('run', '--max-wait', '20s', *words, '--', 'true')
    report.check(done.returncode == 0, 'a map that is killed frees its permits within their lease', told(done))
    here.open_gate('gate')


def incremental(report, here):
    """The first line's job ends before the second line is written. It has no part in the input: its own is empty."""
    process = here.start('map', *ANY, '--', 'sh', '-c', 'cat; echo got "$1"', 'sh', stdin=-1)
    for word in ('one', 'two'):
        process.stdin.write(f'{word}\n'.encode())
        process.stdin.flush()
        report.check(until(process.stdout.fileno(), b'\n') == f'got {word}\n'.encode(), f'line {word} is done as it comes')
    process.stdin.write(b'half')
    process.stdin.close()
    process.stdin = None
    status, output, _ = end(process)
    report.check(status == 0 and output == 'got half\n', 'and what stands at the end', output)


def memory(report, here):
    """A large input is read through, here to be put aside, and not held."""
    needed = {}
    for name, count in (('small', 1), ('large', 4000000)):
        with open(here.path / 'in', 'w', encoding='utf-8') as file: # in pieces: our own size counts as the child's
            for _ in range(count // 1000 or 1):
                file.write('a line of words\n' * min(count, 1000))
        process = here.start('map', *ANY, '-i', 'in', '--undone', 'rest', '--', './gone')
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        end(process)
        needed[name] = usage.ru_maxrss
        size = os.path.getsize(here.path / 'rest')
        report.check(process.returncode == 127 and size == count * 16, f'a {name} input is put aside whole', size)
    report.check(needed['large'] - needed['small'] < 16 * 1024, 'with no more memory for 64 MB than for one line', needed)


if __name__ == '__main__':
    run(lines, faults, refusals, retries, quota, at_most_n, at_most_n_in_all, urgent_first, shadow, killed, incremental,
        memory)
