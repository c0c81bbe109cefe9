#!/usr/bin/env python3
"""What goes wrong around an agent: dead, frozen, slow and malicious clients, its own death, a password, few files."""

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys

from agent import AGENT, DEADLINE, POLICY, Client, agent_place, end, ends, tap, until

HOLDER = '''
import socket, sys, signal
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'*2\\r\\n$7\\r\\nACQUIRE\\r\\n$6\\r\\nsingle\\r\\n')
print(client.recv(4096).split()[2].decode(), flush=True)
signal.pause()
'''


def begin_holder(here):
    """A process that holds the permit of `single`."""
    process = subprocess.Popen([sys.executable, '-c', HOLDER, here.socket], stdout=subprocess.PIPE)
    here.started.append(process)
    until(process.stdout.fileno(), b'\n')
    return process


def dead_client(report, here):
    holder, client = begin_holder(here), here.client()
    client.send('ACQUIRE', 'single')
    holder.kill()
    report.check(client.answer()[1] > 0, 'a killed client gives back at once')
    client.close()


def dead_agent(report, here):
    agent = here.agent()
    client = here.client()
    client.do('ACQUIRE', 'mail')
    client.send('ACQUIRE', 'slow')
    agent.kill()
    ends.wait(agent)
    with contextlib.suppress(EOFError, ConnectionResetError):
        client.answer()
        client.answer()
    report.check(client.ended(), 'a killed agent ends its connections')
    agent = here.agent()
    report.check(len(here.client().do('ACQUIRE', 'mail')) == 4, 'the next one takes its place at the socket')
    return agent


def frozen_client(report, here):
    holder, client = begin_holder(here), here.client()
    os.kill(holder.pid, signal.SIGSTOP)
    waiter = here.client(3)
    waiter.do('ACQUIRE', 'single', 'TAG', 'behind')
    report.check(len(client.do('ACQUIRE', 'mail')) == 4, 'a frozen client holds up nobody elsewhere')
    os.kill(holder.pid, signal.SIGKILL)
    report.check(waiter.push()[:2] == ('acquired', 'behind'), 'what it held is free with its end')
    waiter.close()
    client.close()


def malformed(report, here):
    client = here.client()
    for name, sent, said in [
            ('no RESP', b'GET / HTTP/1.1\r\n\r\n', b'-ERR Protocol error'),
            ('an integer', b':1\r\n', b'-ERR Protocol error: a command is an array'),
            ('an array of integers', b'*1\r\n:1\r\n', b'-ERR Protocol error: a command is an array'),
            ('arrays in arrays', b'*1\r\n*1\r\n$1\r\nx\r\n', b'-ERR Protocol error'),
            ('a huge array', b'*1000000000\r\n', b'-ERR Protocol error: a command has at most'),
            ('a huge word', b'*1\r\n$1000000000\r\n', b'-ERR Protocol error: a command has at most'),
            ('a negative size', b'*1\r\n$-5\r\n', b'-ERR Protocol error'),
            ('one behind a command', Client.words('PING') + b'?', b'+PONG\r\n-ERR Protocol error')]:
        with socket.socket(socket.AF_UNIX) as other:
            other.settimeout(DEADLINE)
            other.connect(here.socket)
            other.sendall(sent)
            got = b''
            while data := other.recv(4096):
                got += data
        report.check(got.startswith(said), f'{name}: an error, and the connection ends', got)
    half = here.client()
    half.socket.sendall(Client.words('PING')[:7])
    report.check(client.do('PING') == 'PONG', 'half a command disturbs nobody')
    half.socket.sendall(Client.words('PING')[7:])
    report.check(half.answer() == 'PONG', 'and is done when the rest comes')
    half.close()
    client.close()


def slow_reader(report, here):
    """It asks and does not read."""
    client, reader = here.client(), here.client()
    reader.socket.settimeout(DEADLINE)
    words = Client.words('ECHO', b'x' * 60000) * 16
    left = words
    with contextlib.suppress(BlockingIOError):
        reader.socket.setblocking(False)
        while True:
            left = left[reader.socket.send(left):] or words
    report.check(client.do('PING') == 'PONG', 'a slow reader disturbs nobody')
    reader.socket.setblocking(True)
    reader.socket.settimeout(DEADLINE)
    report.check(b'x' in reader.socket.recv(100), 'it is not read from while its own answers lie unread, and goes on when it reads')
    reader.close()
    client.do('TRY', 'slow')  # so that nobody gets a slot within the hour
    behind = here.client()
    behind.send('ACQUIRE', 'slow')
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(40):
            behind.socket.sendall(Client.words('ECHO', b'x' * 60000))
    report.check(behind.ended(), 'more than a mebibyte behind a command that waits ends the connection')
    client.close()


def answer_of(client):
    with contextlib.suppress(ConnectionResetError):
        return client.recv(100)
    return b''


def few_files(report, here):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    agent = here.agent(preexec_fn=limit)
    clients = []
    for _ in range(60):
        clients.append(socket.socket(socket.AF_UNIX))
        clients[-1].settimeout(DEADLINE)
        clients[-1].connect(here.socket)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            clients[-1].sendall(Client.words('PING'))
    answers = [answer_of(client) for client in clients]
    report.check(answers[0] == b'+PONG\r\n' and set(answers) == {b'+PONG\r\n', b''},
                 'with few files some connections are closed, the others served', answers)
    clients[0].sendall(Client.words('ACQUIRE', 'fast'))
    report.check(clients[0].recv(100).startswith(b'*4'), 'which get their permits')
    for client in clients:
        client.close()
    report.check(end(agent) == 0, 'and the agent ends well')


def password(report, here):
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        port = taken.getsockname()[1]
    refused = ends.run([AGENT, '--listen', here.socket, '--port', str(port)], env=here.environment, cwd=here.path,
                       text=True, capture_output=True)
    report.check(refused.returncode == 64 and 'TAKT_AGENT_PASSWORD' in refused.stderr, 'a port needs a password',
                 refused.stderr)
    agent = here.agent('--port', port, env={**here.environment, 'TAKT_AGENT_PASSWORD': 'sesame'})
    client = here.client()
    client.socket = socket.create_connection(('127.0.0.1', port), DEADLINE)
    client.file = client.socket.makefile('rb')
    report.check(client.refused('ACQUIRE', 'mail').startswith('NOAUTH'), 'NOAUTH without it')
    report.check(client.refused('AUTH', 'sesamo').startswith('WRONGPASS'), 'WRONGPASS')
    report.check(client.do('AUTH', 'default', 'sesame') == 'OK' and len(client.do('ACQUIRE', 'mail')) == 4,
                 'then all is open')
    report.check(len(here.client().do('ACQUIRE', 'mail')) == 4, 'the Unix socket needs none')
    end(agent)


def no_folder(report, here):
    refused = ends.run([AGENT, '--listen', f'{here.path}/none/agent.sock'], env=here.environment, cwd=here.path,
                       text=True, capture_output=True)
    report.check(refused.returncode == 71 and 'there is no such folder' in refused.stderr,
                 'a socket needs its folder', refused.stderr)


def own_store(report, here):
    for name, url in [('the usual place', 'agent:'), ('its own socket', f'agent:{here.socket}')]:
        for words, environment in [(['--store', url], {}), ([], {'TAKT_STORE': url})]:
            refused = ends.run([AGENT, '--listen', here.socket, *words], env={**here.environment, **environment},
                               cwd=here.path, text=True, capture_output=True)
            report.check(refused.returncode == 64 and 'name a file or a server' in refused.stderr,
                         f'an agent at {name} is no store of an agent, {"by --store" if words else "by TAKT_STORE"}',
                         refused.stderr)
    here.write('circle.yaml', f'store: "agent:{here.socket}"\n{POLICY}')
    refused = ends.run([AGENT, '--listen', here.socket, '--policy', 'circle.yaml'], cwd=here.path, text=True,
                       env={name: value for name, value in here.environment.items() if name != 'TAKT_STORE'},
                       capture_output=True)
    report.check(refused.returncode == 64, 'nor by its policy', refused.stderr)


# Hands over the socket as a service manager does: as descriptor 3 of a process that knows its own number.
ACTIVATE = '''
import os, sys
if int(sys.argv[1]) != 3:
    os.dup2(int(sys.argv[1]), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
'''


def socket_activation(report, here):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(here.path / 'activated'))
        listener.listen()
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, '-c', ACTIVATE, str(listener.fileno()), AGENT], cwd=here.path, env=here.environment,
            pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
        here.started.append(process)
        client = Client(here.path / 'activated')
        report.check(len(client.do('ACQUIRE', 'mail')) == 4, 'a socket of the service manager is served')
        client.close()
        report.check(end(process) == 0, 'and the agent ends')


def status(report, here):
    agent = here.agent('--status', f'unix:{here.path}/status', '--metrics-file', 'metrics')
    client = here.client()
    client.do('ACQUIRE', 'mail')

    def page(path):
        with socket.socket(socket.AF_UNIX) as http:
            http.settimeout(DEADLINE)
            http.connect(f'{here.path}/status')
            http.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
            http.shutdown(socket.SHUT_WR)
            got = b''
            while data := http.recv(65536):
                got += data
        return got.decode()

    report.check(page('/ready').startswith('HTTP/1.1 200') and page('/live').startswith('HTTP/1.1 200'), 'probes')
    text = page('/metrics')
    wanted = ['takt_agent_grants_total 1', 'takt_agent_connections 1', 'takt_limit_waiting{limit="mail",key=""} 0',
              'takt_more_workers_help{limit="mail",key=""} 1', 'takt_grants_total 1', '# EOF']
    report.check(all(line in text for line in wanted), 'metrics', text)
    end(agent)
    report.check('takt_agent_grants_total 1' in here.read('metrics'), 'the file has the last figures')


def main():
    report = tap.Report()
    with agent_place() as here:
        agent = dead_agent(report, here)
        for part in (dead_client, frozen_client, malformed, slow_reader):
            part(report, here)
        report.check(end(agent) == 0, 'after all that the agent ends well')
        for part in (few_files, password, no_folder, own_store, socket_activation, status):
            part(report, here)
    report.end()


main()
