"""
A pseudo-terminal: a program runs on it, and its output is kept as a screen by a model that knows the few sequences that
`takt` uses. Any other sequence is a failure.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

from command import DEADLINE, ends

SEQUENCE = re.compile(rb'\x1b\[(\??)([0-9;]*)([A-Za-z])')
CUT = re.compile(rb'\x1b(\[\??[0-9;]*)?(?=\x1b)')  # the end of a frame of which not all was taken
PRIVATE = {'1049', '25', '7'}
READY_MOST = 4095  # bytes that the system puts ready for a reader; behind them there is room for some more
MARK = b'\x1b[?0h'  # the test's own, no program's


class Screen:
    """What a person sees: lines of text, as wide as the terminal."""

    def __init__(self, columns, lines):
        self.resize(columns, lines)
        self.modes = {'1049': False, '25': True, '7': True}  # alternate screen, cursor, wrapping
        self.plain = ''  # what was written to the ordinary screen
        self.pending = b''
        self.marked = False

    def resize(self, columns, lines):
        self.columns, self.size = columns, lines
        self.lines = [[' '] * columns for _ in range(lines)]
        self.styles = [''] * lines
        self.row = self.column = 0
        self.style = ''

    def text(self):
        return '\n'.join(''.join(line).rstrip() for line in self.lines)

    def second(self):
        """The second line, with the error."""
        return ''.join(self.lines[1]).rstrip() if self.size > 1 else ''

    def line_of(self, word):
        """The first line with that word; an empty one if there is none."""
        return next((line for line in self.text().split('\n') if word in line), '')

    def chosen(self):
        """The line of the rows that is shown in reverse."""
        return next((''.join(line) for line, style in zip(self.lines[1:], self.styles[1:]) if style == '7'), '')

    def feed(self, data):
        self.pending += data
        while self.pending:
            if self.pending[:1] == b'\x1b':
                if cut := CUT.match(self.pending):
                    self.pending = self.pending[cut.end():]
                found = SEQUENCE.match(self.pending)
                if not found and re.fullmatch(rb'\x1b(\[\??[0-9;]*)?', self.pending):
                    return
                assert found, f'no sequence that is known: {self.pending[:20]!r}'
                self.pending = self.pending[found.end():]
                self.obey(*(part.decode() for part in found.groups()))
                continue
            size = next((size for size in range(1, 5) if self.is_whole(self.pending[:size])), 0)
            if not size:
                assert len(self.pending) < 4, f'no UTF-8: {self.pending[:20]!r}'
                return
            self.put(self.pending[:size].decode())
            self.pending = self.pending[size:]

    @staticmethod
    def is_whole(data):
        try:
            return len(data.decode()) == 1
        except UnicodeDecodeError:
            return False

    def obey(self, private, numbers, letter):
        if private and numbers == '0':
            self.marked = True
        elif private:
            assert numbers in PRIVATE and letter in 'hl', f'no mode that is known: {numbers}{letter}'
            self.modes[numbers] = letter == 'h'
        elif letter == 'm':
            assert numbers in ('0', '1', '7'), f'no style that is known: {numbers}'
            self.style = '' if numbers == '0' else numbers
            if self.style and self.modes['1049'] and self.column == 0:
                self.styles[self.row] = self.style
        elif letter == 'H' and not numbers:
            self.row = self.column = 0
        elif letter == 'J' and numbers == '2':
            self.resize(self.columns, self.size)
        elif letter == 'K' and not numbers and self.column == 0:
            self.lines[self.row], self.styles[self.row] = [' '] * self.columns, ''
        else:
            raise AssertionError(f'no sequence that is known: {numbers}{letter}')

    def put(self, character):
        if not self.modes['1049']:
            self.plain += character
        elif character == '\r':
            self.column = 0
        elif character == '\n':
            self.row += 1
            assert self.row < self.size, 'the screen scrolls'
        else:
            assert character >= ' ' and character != '\x7f', f'a control character: {character!r}'
            wide = 2 if unicodedata.east_asian_width(character) in 'WF' else 1
            assert self.column + wide <= self.columns, f'line {self.row} is too long: {self.text()}'
            self.lines[self.row][self.column] = character
            if wide == 2:
                self.lines[self.row][self.column + 1] = ''
            self.column += wide


def unread(fd):
    """The bytes that lie ready."""
    return struct.unpack('i', fcntl.ioctl(fd, termios.FIONREAD, b'\0' * 4))[0]


class Terminal:
    """A program on a terminal, which is its own and controls it."""

    def __init__(self, here, words, columns=80, lines=24, **environment):
        self.master, self.slave = pty.openpty()
        self.screen = Screen(columns, lines)
        self.set_size(columns, lines)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            [str(word) for word in words], cwd=here.path, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env={**here.environment, 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', **environment}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        here.started.append(self.process)

    def set_size(self, columns, lines):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))

    def resize(self, columns, lines):
        """Frames of the old size may still come: they are read first, up to one that shows a new word."""
        self.drain()
        self.screen.resize(columns, lines)
        self.set_size(columns, lines)

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        with contextlib.suppress(OSError):  # how a terminal ends
            self.screen.feed(os.read(self.master, 65536))
        return True

    def drain(self):
        while self.read(0):
            pass

    def until(self, seen, what):
        """Reads until seen(screen) is true; fails where that does not come. The next frame may be half drawn then."""
        deadline = time.monotonic() + DEADLINE
        while not seen(self.screen):
            if not self.read(max(0, deadline - time.monotonic())):
                raise AssertionError(f'waited for {what}; there is\n{self.screen.text()}\n{self.screen.plain}')

    def until_text(self, words):
        self.until(lambda screen: words in screen.text(), words)

    def fill(self):
        """Leaves no room for anything that is written."""
        fd = os.open(os.ttyname(self.slave), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        full = False
        while not full:
            try:
                os.write(fd, b'\r')
            except BlockingIOError:
                full = unread(self.master) >= READY_MOST
        os.close(fd)

    def type_until_read(self, key):
        """Types a key that ends the reading, and returns when it was read: some of what follows it is left then."""
        typed = key + 'x' * 300
        self.type(typed)
        deadline = time.monotonic() + DEADLINE
        while not 0 < unread(self.slave) < len(typed):
            assert time.monotonic() < deadline, 'nothing of it is read'

    def is_as_before(self):
        """The terminal is as the program found it: its modes, its screen, its cursor."""
        return (termios.tcgetattr(self.slave) == self.before
                and self.screen.modes == {'1049': False, '25': True, '7': True})

    def end(self):
        """The program has ended, and all that it wrote was read: the system may bring it later than its end."""
        deadline = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            self.read(0.1)
            assert time.monotonic() < deadline, f'it does not end; there is\n{self.screen.text()}'
        status = self.process.returncode
        self.drain()
        os.write(self.slave, MARK)
        self.until(lambda screen: screen.marked, 'the mark')
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            ends.wait(self.process)
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def terminal(here, words, columns=80, lines=24, **environment):
    opened = Terminal(here, words, columns, lines, **environment)
    try:
        yield opened
    finally:
        opened.close()
