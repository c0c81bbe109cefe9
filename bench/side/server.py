"""A Redis server of the bench's own, at a socket in a fresh folder, and what it says of itself."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

# Commands that a client sends, not a script: what the tools here use.
SCRIPTS = ('eval', 'evalsha', 'fcall')
ASKED = (*SCRIPTS, 'multi', 'bzpopmin', 'brpoplpush', 'blmove', 'xreadgroup')


class Server:
    def __init__(self, program=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='side-'))
        self.socket = str(self.folder / 'redis.sock')
        self.process = subprocess.Popen(
            [*(program or [os.environ.get('REDIS_SERVER', 'redis-server')]), '--port', '0', '--unixsocket', self.socket, '--save', '',
             '--appendonly', 'no', '--maxclients', '4096', '--dir', str(self.folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.listens():
            if self.process.poll() is not None:
                raise RuntimeError('redis-server did not start')
            time.sleep(0.01)
        self.received = self.sent = 0  # by what is asked here, seen from the server

    def listens(self):
        """The socket is there some time before it takes connections."""
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(self.socket)
            except OSError:
                return False
        return True

    def say(self, *words):
        """The answer to one command, as text."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            request = (' '.join(words) + '\r\n').encode()
            connection.sendall(request)
            self.received += len(request)
            head = b''
            while not head.endswith(b'\r\n'):
                head += connection.recv(1)
            self.sent += len(head)
            if head[:1] != b'$':
                return head[1:-2].decode()
            size, text = int(head[1:]) + len('\r\n'), b''
            while len(text) < size:
                text += connection.recv(65536)
            self.sent += size
            return text.decode()

    def info(self, section):
        lines = (line.split(':', 1) for line in self.say('INFO', section).splitlines() if ':' in line)
        return dict(lines)

    def figures(self):
        """What only grows: requests of clients, commands with those of scripts, the scripts' time and all processor time
        in us, bytes from and to clients."""
        sent, told = self.sent, self.info('all')  # the answer is not yet in what it tells
        stats = {name.removeprefix('cmdstat_'): dict(word.split('=') for word in text.split(','))
                 for name, text in told.items() if name.startswith('cmdstat_')}
        commands = {name: int(words['calls']) for name, words in stats.items()}
        with open(f'/proc/{self.process.pid}/schedstat', encoding='ascii') as file:
            cpu_us = int(file.read().split()[0]) / 1000
        own = commands.get('info', 0) + commands.get('flushall', 0)
        return {'requests': sum(commands.get(name, 0) for name in ASKED),
                'commands': sum(commands.values()) - own, 'cpu_us': cpu_us,
                'script_us': sum(int(stats[name]['usec']) for name in SCRIPTS if name in stats),
                'bytes': int(told['total_net_input_bytes']) - self.received + int(told['total_net_output_bytes']) - sent}

    def set_plain(self, count):
        """Keys with a value of 24 bytes and an expiry, named as long as takt names its ledgers."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            for first in range(0, count, 1000):
                lines = [f'SET takt:{{default/bench/key-{number}}} {number:024d} EX 3600\r\n'
                         for number in range(first, min(first + 1000, count))]
                connection.sendall(''.join(lines).encode())
                answers = b''
                while answers.count(b'\n') < len(lines):
                    answers += connection.recv(65536)

    def bytes(self):
        return int(self.info('memory')['used_memory'])

    def empty(self):
        self.say('FLUSHALL')

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
