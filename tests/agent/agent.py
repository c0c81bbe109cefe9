"""
The agent as the tests of this folder use it: in a folder of its own, over the file store or a Redis server of the test's
own; and a client that speaks its protocol, so that a test sees each answer and each push message.
"""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'cli'))
from command import DEADLINE, SOURCE, TAKT, Place, ends, tap, until, until_waiting  # noqa: E402, F401

BUILD = pathlib.Path(os.environ.get('TAKT_BUILD') or SOURCE / 'build')
AGENT = str(BUILD / 'agent/takt-agent')

POLICY = '''limits:
  - name: mail
    rules: [{rate: 100/s}]
  - name: slow
    rules: [{rate: 1/h}]
  - name: fast
    rules: [{rate: 1000000/s, burst: 100000}]
  - name: single
    concurrency: 1
  - name: few
    rules: [{rate: 1/h}]
    max_waiting: 2
  - name: tokens
    rules: [{rate: 1000/min, burst: 1000, counts: tokens}]
  - name: inner
    rules: [{rate: 1/day, burst: 5}]
    within: outer
  - name: outer
    rules: [{rate: 1/day, burst: 10}]
'''


class Failed(Exception):
    """An error of the agent: its code and its sentence."""

    def __init__(self, text):
        super().__init__(text)
        self.code = text.split(' ')[0]


class Client:
    """One connection. Push messages that come before an answer are in `pushed`."""

    def __init__(self, path, protocol=2):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(str(path))
        self.file = self.socket.makefile('rb')
        self.pushed = []
        if protocol == 3:
            self.do('HELLO', 3)

    @staticmethod
    def words(*words):
        texts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b'*%d\r\n' % len(texts) + b''.join(b'$%d\r\n%s\r\n' % (len(text), text) for text in texts)

    def send(self, *words):
        self.socket.sendall(self.words(*words))

    def value(self):
        """The next value; a push message is a tuple."""
        line = self.file.readline()
        if not line.endswith(b'\r\n'):
            raise EOFError
        kind, rest = line[:1], line[1:-2]
        if kind == b'+':
            return rest.decode()
        if kind == b'-':
            return Failed(rest.decode())
        if kind == b':':
            return int(rest)
        if kind == b'_' or (kind in b'$*' and rest == b'-1'):
            return None
        if kind == b'$':
            return self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b'%':
            return {self.value(): self.value() for _ in range(int(rest))}
        if kind in b'*>':
            values = [self.value() for _ in range(int(rest))]
            return tuple(values) if kind == b'>' else values
        raise AssertionError(f'no value begins with {line!r}')

    def answer(self):
        while isinstance(value := self.value(), tuple):
            self.pushed.append(value)
        if isinstance(value, Failed):
            raise value
        return value

    def push(self):
        """The next push message."""
        if self.pushed:
            return self.pushed.pop(0)
        value = self.value()
        assert isinstance(value, tuple), value
        return value

    def do(self, *words):
        self.send(*words)
        return self.answer()

    def refused(self, *words):
        """The error that a command ends with; '' if it does not."""
        try:
            return f'no error but {self.do(*words)}'
        except Failed as failed:
            return str(failed)

    def ended(self):
        """Whether the agent has closed the connection, after its last answers."""
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(65536):
                pass
        return True

    def close(self):
        self.file.close()
        self.socket.close()


class AgentPlace(Place):
    """A scratch folder with a policy, in which agents run."""

    def __init__(self, folder):
        super().__init__(folder)
        self.write('takt.yaml', POLICY)
        self.socket = f'{folder}/agent.sock'
        self.clients = []

    def agent(self, *arguments, **options):
        """Starts an agent, and waits until it serves."""
        settings = {'env': self.environment, 'cwd': self.path, 'stdin': subprocess.DEVNULL, 'stderr': subprocess.PIPE,
                    **options}
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [AGENT, '--listen', self.socket, *map(str, arguments)], **settings)
        self.started.append(process)
        until(process.stderr.fileno(), b'serving')
        return process

    def client(self, protocol=2):
        client = Client(self.socket, protocol)
        self.clients.append(client)
        return client

    def peek(self, limit):
        return json.loads(self.takt('peek', '--json', limit).stdout)

    def stop_all(self):
        for client in self.clients:
            client.close()
        super().stop_all()


@contextlib.contextmanager
def agent_place():
    with tempfile.TemporaryDirectory() as folder:
        here = AgentPlace(folder)
        try:
            with ends.naming():
                yield here
        finally:
            here.stop_all()


def end(process, signal=15):
    """Ends an agent: its exit status."""
    process.send_signal(signal)
    return ends.wait(process)
