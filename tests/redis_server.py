"""A Redis server of a test script's own: on a socket in a scratch folder, with a port if one is asked for."""

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess

import ends

PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


PORTS = range(20000, 30000)  # below those that systems give to outgoing connections
claims = []


def free_port():
    """
    A free port for a server, for as long as this process runs: the tests that run beside it, in C as well, claim theirs
    by the name of an abstract socket, and no outgoing connection gets one of these ports.
    """
    for port in random.sample(PORTS, len(PORTS)):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f'\0takt-test-port-{port}')
            with socket.socket() as probe:
                probe.bind(('', port))
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port
    raise OSError(f'no port from {PORTS.start} to {PORTS.stop - 1} is free')


class Server:
    """A server that runs. Its URL is by the socket."""

    def __init__(self, folder, name, options, environment, sentinel=None):
        self.socket = f'{folder}/{name}.sock'
        self.url = f'unix:{self.socket}'
        (folder / name).mkdir()
        settings = {'port': '0', 'save': '', 'appendonly': 'no', **options}
        words = [word for option, value in settings.items() for word in (f'--{option}', value)]
        role = [str(sentinel), '--sentinel'] if sentinel else []
        self.command = [os.environ.get('REDIS_SERVER', 'redis-server'), *role, '--unixsocket', self.socket,
                        '--dir', str(folder / name), *words]
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self):
        """Starts it, again after stop(), at the same place."""
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            self.command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent, env=self.environment)
        ends.line(self.process, 'Sentinel ID is' if '--sentinel' in self.command else 'eady to accept connections')

    def say(self, *words, user=None):
        """Sends a command by redis-cli, as NAME:PASSWORD if given; returns the output, errors included."""
        login = ['--user', user.split(':')[0], '--pass', user.split(':')[1], '--no-auth-warning'] if user else []
        done = ends.run(['redis-cli', '-s', self.socket, *login, *words], text=True, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.strip()

    def stop(self):
        self.process.kill()
        ends.wait(self.process)
        self.process.stdout.close()


@contextlib.contextmanager
def server(folder, name='redis', environment=None, sentinel=None, **options):
    """
    Options are those of redis.conf, with _ for -. Nothing is saved unless they say so. `sentinel` is the configuration
    file of a Sentinel, which it may write.
    """
    running = Server(folder, name, {option.replace('_', '-'): value for option, value in options.items()}, environment,
                     sentinel)
    try:
        yield running
    finally:
        running.stop()
