"""What a test script needs to tell its results as TAP: one line per check, details after a failed one."""

import subprocess

import ends
import sys


class Report:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, good, name, detail=''):
        """One check. `detail` is shown when it failed: the value found and the expected one."""
        self.count += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} {self.count} - {name}')
        if not good:
            for line in str(detail).splitlines():
                print(f'# {line}')
        sys.stdout.flush()
        return bool(good)

    def skip(self, name, why):
        self.count += 1
        print(f'ok {self.count} - {name} # SKIP {why}')

    def command(self, name, arguments, **options):
        """Runs a command; the check is that it ends with 0. Returns its output, None if it failed."""
        words = ' '.join(map(str, arguments))
        try:
            done = ends.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            **{'deadline': 1800, **options})
        except OSError as error:
            self.check(False, name, f'$ {words}\n{error}')
            return None
        if self.check(done.returncode == 0, name, f'$ {words}\n{done.stdout}ended with {done.returncode}'):
            return done.stdout
        return None

    def end(self):
        """The plan and the exit status. The last call of a script."""
        print(f'1..{self.count}')
        sys.exit(1 if self.failed or not self.count else 0)
