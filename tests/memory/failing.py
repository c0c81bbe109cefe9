"""
Runs programs of the build whose calls fail (failing_program.c), the first, then the second, and so on, and judges how
each run ends: not by a signal, within a deadline, and either as without the fault or with a code and a message that
names it.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
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
DENSE = max(8, 80 // int(os.environ.get('TAKT_ROUNDS_DIVIDED_BY', 1)))

Run = collections.namedtuple('Run', 'code output messages struck folder')


class Case:
    """One command: how its folder is prepared, and what must hold when a run has ended. One that is loose may show less."""

    def __init__(self, name, *words, files=None, prepare=(), later=None, check=None, given=None, ways=('', '+'),
                 loose=False):
        self.name, self.words, self.files, self.prepare, self.later = name, words, files or {}, prepare, later or {}
        self.check, self.given, self.ways, self.loose = check, given, ways, loose

    def run(self, folder, words, failing=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('TAKT_')}
        environment.update(TAKT_STORE=f'file:{folder}/store/', HOME=str(folder), TERM='dumb')
        failed = pathlib.Path(folder) / '.failed'
        if failing:
            environment.update(TAKT_TEST_FAILING=failing, TAKT_TEST_FAILED=str(failed))
        done = ends.run([str(BUILD / 'tests' / f'failing-{words[0]}'), *words[1:]], env=environment, cwd=folder,
                        input=self.given or '', text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        deadline=DEADLINE)
        return Run(done.returncode, done.stdout, done.stderr, failed.exists(), pathlib.Path(folder))

    @staticmethod
    def write(folder, files):
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def template(self, folder):
        (pathlib.Path(folder) / 'store').mkdir()
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

    def one(self, kind, good, template, failing):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder) / 'here'
            shutil.copytree(template, here)
            try:
                done = self.run(here, self.words, failing)
            except AssertionError as error:
                return True, f'{failing}: never ended\n{error}'
            trouble = self.trouble(kind, good, done)
            return done.struck, trouble and f'{failing}: {trouble}\n{done.output}\n{done.messages}'

    def all(self, report, kind):
        """Fails each call alone, then all from it on; after many calls only some of them."""
        with tempfile.TemporaryDirectory() as template, concurrent.futures.ThreadPoolExecutor() as pool:
            self.template(template)
            shutil.copytree(template, f'{template}/.good')
            good = self.run(f'{template}/.good', self.words)
            shutil.rmtree(f'{template}/.good')
            troubles, tried = [], 0
            for way in self.ways:
                n = 1
                while True:
                    batch = []
                    for _ in range(8):
                        batch.append(pool.submit(self.one, kind, good, template, f'{kind} {n}{way}'))
                        n += 1 if n < DENSE else n // 4
                    ended = [future.result() for future in batch]
                    tried += sum(struck for struck, _ in ended)
                    troubles += [trouble for _, trouble in ended if trouble]
                    if not ended[-1][0] or len(troubles) > 20:
                        break
            report.check(not troubles and tried > 0, f'{self.name}: {tried} runs with failing {kind}',
                         '\n'.join(troubles[:12]) + f'\nwithout: {good}')


def run(cases, kinds):
    report = tap.Report()
    with ends.naming():
        for case in cases:
            if not sys.argv[1:] or case.name in sys.argv[1:]:
                for kind in kinds:
                    case.all(report, kind)
    report.end()
