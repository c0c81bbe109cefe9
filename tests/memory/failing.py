"""
Runs programs of the build whose calls fail (failing_program.c), each time at another place of the code, and judges how
each run ends: not by a signal, within a deadline, and either as without the fault or with a code and a message that
names it.
"""

import array
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402

SOURCE = pathlib.Path(os.environ.get('TAKT_SOURCE') or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')
DEADLINE = 120
CODES = {1, 65, 66, 69, 70, 71, 73, 74, 75, 78, 126}  # of sysexits, but not EX_USAGE: nobody has written anything wrong
WORDS = {'memory': re.compile('memory', re.I), 'io': re.compile('No space left')}
PLACES_SIZE = 8 * ((1 << 16) + (1 << 14))  # of the file, as failing_program.c has it

Run = collections.namedtuple('Run', 'code output messages place folder')


class Program:
    """A program that has started and forks for each run."""

    def __init__(self, name, places):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('TAKT_')}
        environment.update(TERM='dumb', TAKT_TEST_PLACES=str(places))
        self.path = BUILD / 'tests' / f'failing-{name}'
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE)
        with theirs:
            self.process = subprocess.Popen([self.path], stdin=theirs, env=environment)

    def run(self, folder, name, given, words):
        """Returns the code, and the place of the call that failed, innermost first."""
        self.socket.send(b''.join(word.encode() + b'\0' for word in (str(folder), name, given, *words)))
        try:
            answer = self.socket.recv(4096)
        except TimeoutError:
            waited_for = [self.process.pid, *ends.below(self.process.pid)]
            text = f'{words} has not ended after {DEADLINE} s\n{ends.named(waited_for)}'
            for pid in waited_for:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise AssertionError(text) from None
        status, frames = array.array('i', answer[:8])
        return os.waitstatus_to_exitcode(status), array.array('q', answer[8:])[:frames].tolist()

    def lines(self, place):
        """The place in words."""
        addresses = [hex(offset - 1) for offset in place]  # of the call, not of its return
        found = ends.run(['addr2line', '-f', '-s', '-p', '-e', self.path, *addresses], capture_output=True, text=True)
        return found.stdout

    def close(self):
        self.socket.close()
        self.process.wait()


class Programs:
    """Those that have started and do not run."""

    def __init__(self, places):
        self.places, self.idle = places, collections.defaultdict(list)

    @contextlib.contextmanager
    def one(self, name):
        try:
            program = self.idle[name].pop()
        except IndexError:
            program = Program(name, self.places)
        yield program
        self.idle[name].append(program)

    def close(self):
        for program in (program for idle in self.idle.values() for program in idle):
            program.close()


class Case:
    """One command: how its folder is prepared, and what must hold when a run has ended. One that is loose may show less."""

    programs = None

    def __init__(self, name, *words, files=None, prepare=(), later=None, check=None, given='', ways=('', '+'),
                 loose=False):
        self.name, self.words, self.files, self.prepare, self.later = name, words, files or {}, prepare, later or {}
        self.check, self.given, self.ways, self.loose = check, given, ways, loose

    def run(self, folder, words, failing=''):
        with self.programs.one(words[0]) as program:
            code, place = program.run(folder, failing, self.given, words)
        said = [pathlib.Path(f'{folder}.{name}').read_text(encoding='utf-8') for name in ('output', 'messages')]
        return Run(code, *said, place, folder)

    @staticmethod
    def write(folder, files):
        for name, text in files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def template(self, folder):
        (folder / 'store').mkdir(parents=True)
        self.write(folder, self.files)
        for words in self.prepare:
            done = self.run(folder, words)
            assert done.code == 0, done
        self.write(folder, self.later)

    def trouble(self, kind, good, done):
        """The fault of a run; '' if there is none."""
        if done.code < 0 or done.code in (134, 139):
            return f'ended by signal {-done.code}'
        if done.code not in CODES | {good.code}:
            return f'ended with {done.code}'
        if done.code != good.code and not WORDS[kind].search(done.messages + done.output):
            return f'ended with {done.code}, and no message names the cause'
        if done.code == good.code and not self.loose and self.shape(done) != self.shape(good):
            return 'ended well with another output'
        return (self.check(self, done) or '') if self.check else ''

    @staticmethod
    def shape(done):
        """The output without the folder's name, and without numbers and spaces, which depend on the time."""
        return re.sub(r'[\d.\s]+(ms|us|s|min|h)?\b', '', done.output.replace(str(done.folder), ''))

    def one(self, scratch, failing=''):
        """One run, in a new folder."""
        here = scratch / 'here'
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(scratch / 'template', here)
        return self.run(here, self.words, failing)

    def all(self, kinds):
        """
        Fails a call alone, at each place where none has failed in this program; then it and all that follow. Returns
        for each kind how many failed and the troubles.
        """
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            self.template(scratch / 'template')
            good = self.one(scratch)
            return [self.each(scratch, kind, good) for kind in kinds]

    def each(self, scratch, kind, good):
        troubles, tried = [], 0
        for way in self.ways:
            failing = f'{kind} {self.words[0]}{way}'
            while len(troubles) < 12:
                done = self.one(scratch, failing)
                if not done.place:
                    break
                tried += 1
                trouble = self.trouble(kind, good, done)
                if trouble:
                    with self.programs.one(self.words[0]) as program:
                        lines = program.lines(done.place)
                    troubles.append(f'{failing}: {trouble}\n{lines}{done.output}\n{done.messages}\nwithout: {good}')
        return tried, '\n'.join(troubles)


def run(cases, kinds):
    report = tap.Report()
    total = dict.fromkeys(kinds, 0)
    with tempfile.NamedTemporaryFile() as places, concurrent.futures.ThreadPoolExecutor() as pool, ends.naming():
        places.truncate(PLACES_SIZE)
        Case.programs = Programs(places.name)
        chosen = [case for case in cases if not sys.argv[1:] or case.name in sys.argv[1:]]
        for case, found in zip(chosen, pool.map(lambda case: case.all(kinds), chosen)):
            for kind, (tried, troubles) in zip(kinds, found):
                report.check(not troubles, f'{case.name}: {tried} runs with failing {kind}', troubles)
                total[kind] += tried
        Case.programs.close()
    report.check(all(total.values()), 'calls of each kind fail', total)
    report.end()
