#!/usr/bin/env python3
"""What goes wrong around an agent: dead, frozen, slow and malicious clients, its own death, a password, few files."""

import contextlib
import grp
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys

from agent import AGENT, DEADLINE, POLICY, Client, agent_place, end, ends, tap, until, until_waiting

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis_server  # noqa: E402  pylint: disable=wrong-import-position

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


BRIEF = ['DEFINE', 'brief', 'CONCURRENCY', 1, 'LEASE', '1s']


def dead_agent(report, here):
    agent = here.agent()
    client = here.client()
    client.do('ACQUIRE', 'mail')
    client.do(*BRIEF)
    held = client.do('ACQUIRE', 'brief')
    client.send('ACQUIRE', 'slow')
    agent.kill()
    ends.wait(agent)
    with contextlib.suppress(EOFError, ConnectionResetError):
        client.answer()
        client.answer()
    report.check(client.ended(), 'a killed agent ends its connections')
    agent = here.agent()
    client = here.client()
    report.check(len(client.do('ACQUIRE', 'mail')) == 4, 'the next one takes its place at the socket')
    client.do(*BRIEF)
    got = client.do('ACQUIRE', 'brief')
    report.check(got[1] > held[1], 'what the killed one held is free after its lease', (held, got))
    client.close()
    return agent


def lost_permit(report, here):
    """An agent that is stopped for longer than a lease; the server has no lock that it could hold."""
    here.write('brief.yaml', 'limits: [{name: brief, concurrency: 1, lease: 1s}]')
    with redis_server.server(here.path) as redis:
        agent = here.agent('--policy', 'brief.yaml', '--store', redis.url)
        client = here.client(3)
        token = client.do('ACQUIRE', 'brief')[0]
        os.kill(agent.pid, signal.SIGSTOP)
        done = here.takt('run', '--policy', 'brief.yaml', '--store', redis.url, 'brief', '--', 'true')
        os.kill(agent.pid, signal.SIGCONT)
        report.check(done.returncode == 0 and client.push() == ('lost', token), 'a permit that is lost is told', done)
        report.check(client.do('RELEASE', token) == 0 and len(client.do('ACQUIRE', 'brief')) == 4,
                     'there is no such permit any more, but a new one')
        client.close()
        end(agent)


def store_errors(report, here):
    """What commands answer without the store."""
    here.write('closed.yaml', 'limits: [{name: closed, on_store_failure: closed, rules: [{rate: 1/s}]}]')
    agent = here.agent('--policy', 'closed.yaml', '--store', f'unix:{here.path}/none.sock')
    client = here.client(3)
    for words in (['ACQUIRE', 'closed'], ['TRY', 'closed'], ['PEEK', 'closed']):
        said = client.refused(*words)
        report.check(said.startswith('STORE '), f'{words[0]} without the store: STORE', said)
    client.do('ACQUIRE', 'closed', 'TAG', 't')
    refused = client.push()
    report.check(refused[:3] == ('refused', 't', 'STORE'), 'and with a tag', refused)
    client.close()
    end(agent)


def nested(report, here):
    here.write('nested.yaml', '''limits:
  - name: outer
    rules: [{rate: 1/h}]
  - name: inner
    within: outer
    rules: [{rate: 1000/s, burst: 10}]
''')
    agent = here.agent('--policy', 'nested.yaml')
    client = here.client(3)
    report.check(len(client.do('ACQUIRE', 'inner:a', 'WITHIN', 'one')) == 4, 'WITHIN names the key of the outer limit')
    report.check(client.do('PEEK', 'outer:one')['remaining'] == 0, 'which counts it')
    report.check(client.do('TRY', 'inner:b', 'WITHIN', 'one') is None and
                 client.do('TRY', 'inner:b', 'WITHIN', 'two') is not None, 'and each of its keys alone')
    client.close()
    end(agent)


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
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
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


def no_store(report, here):
    """A store that cannot be reached, and no program that waits."""
    agent = subprocess.Popen(  # pylint: disable=consider-using-with
        [AGENT, '--listen', here.socket, '--store', f'unix:{here.path}/none.sock'], env=here.environment, cwd=here.path,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    here.started.append(agent)
    said = until(agent.stderr.fileno(), b'cannot connect')
    end(agent)
    said += agent.stderr.read()
    report.check(said.count(b'none.sock: cannot connect') == 1, 'an unreachable store is reported once, at the start', said)


def password(report, here):
    port = redis_server.free_port()
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
    agent = here.agent('--listen', f'unix:{here.socket}')
    report.check(here.client().do('PING') == 'PONG', 'its path may be written as in a URL')
    end(agent)


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
    for address, works in (('127.0.0.1', True), ('0.0.0.0', False)):
        with socket.socket() as listener:
            listener.bind((address, 0))
            listener.listen()
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                [sys.executable, '-c', ACTIVATE, str(listener.fileno()), AGENT], cwd=here.path, text=True,
                env={**here.environment, 'TAKT_AGENT_PASSWORD': 'sesame'}, pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            here.started.append(process)
            if works:
                with socket.create_connection(listener.getsockname(), DEADLINE) as client:
                    client.sendall(Client.words('AUTH', 'sesame'))
                    report.check(client.recv(100) == b'+OK\r\n' and end(process) == 0, 'a port of the loopback is served')
            else:
                status, said = ends.wait(process), process.stderr.read()
                report.check(status == 64 and 'ListenStream=127.0.0.1:PORT' in said, 'another one is refused', said)


NOTIFIED = {b'READY=1': 'READY=1 once it serves', b'STATUS=0 connections, 0 waiting, 0 held': 'STATUS', b'STOPPING=1':
            'STOPPING=1 when it drains'}


def notify(report, here):
    """A service manager's datagram socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(DEADLINE)
        manager.bind(str(here.path / 'notify'))
        agent = here.agent(env={**here.environment, 'NOTIFY_SOCKET': str(here.path / 'notify')})
        got, wanted = [], list(NOTIFIED)
        for words in wanted:
            if words == b'STOPPING=1':
                agent.send_signal(signal.SIGTERM)
            while not any(words in message for message in got):
                got.append(manager.recv(4096))
            report.check(True, f'Type=notify: {NOTIFIED[words]}')
        report.check(end(agent, 0) == 0, 'and it ends', got)


# Connects as another user, in the groups that are named, and asks for PONG.
STRANGER = '''
import os, socket, sys
os.setgroups([int(group) for group in sys.argv[2:]])
os.setgid(65534)
os.setuid(65534)
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
print('connected', flush=True)
client.sendall(b'*1\\r\\n$4\\r\\nPING\\r\\n')
print(client.recv(100))
'''


def group(report, here):
    """Who may connect: the mode and the group of the socket."""
    refused = ends.run([AGENT, '--listen', here.socket, '--group', 'no-such-group'], env=here.environment, cwd=here.path,
                       text=True, capture_output=True)
    report.check(refused.returncode == 64 and 'there is no such group' in refused.stderr, '--group needs a group', refused)
    name = grp.getgrgid(os.getgroups()[-1] if os.geteuid() != 0 else 1)
    agent = here.agent('--group', name.gr_name)
    about = os.stat(here.socket)
    report.check(about.st_mode & 0o7777 == 0o660 and about.st_gid == name.gr_gid, 'the socket has mode 0660 and the group',
                 about)
    if os.geteuid() != 0:
        report.skip('users of the group', 'only root can become another user')
    else:
        here.path.chmod(0o755)

        def connects(*groups):
            return subprocess.run([sys.executable, '-c', STRANGER, here.socket, *map(str, groups)], capture_output=True,
                                  text=True, check=False)

        done = connects()
        report.check('PermissionError' in done.stderr, 'another user may not connect', done)
        done = connects(name.gr_gid)
        report.check('PONG' in done.stdout, 'one in the group may', done)
        changed_mode(report, here, agent)
    end(agent)
    if os.geteuid() == 0:
        agent = here.agent('--group', name.gr_name, '--listen', 'agent.sock')
        done = connects(name.gr_gid)
        report.check('PONG' in done.stdout, 'nor does it matter that --listen is a relative path', done)
        end(agent)


def changed_mode(report, here, agent):
    """The system has let a process connect, but it is not let in: the mode is another one when the agent looks."""
    os.kill(agent.pid, signal.SIGSTOP)
    os.chmod(here.socket, 0o666)
    stranger = subprocess.Popen([sys.executable, '-c', STRANGER, here.socket],  # pylint: disable=consider-using-with
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    here.started.append(stranger)
    until(stranger.stdout.fileno(), b'connected')
    os.chmod(here.socket, 0o660)
    os.kill(agent.pid, signal.SIGCONT)
    said = stranger.stdout.read()
    report.check(ends.wait(stranger) in (0, 1) and b'PONG' not in said,
                 'the agent itself looks at who is at the other end', said)


def of_programs(report, here, client, page):
    """Figures count the programs whose store is the agent."""
    token = client.do('ACQUIRE', 'single:k')[0]
    here.fifo('gate')
    program = here.start('run', '--store', f'agent:{here.socket}', 'single:k', '--', 'cat', 'gate')
    ends.until(lambda: 'waiting:1' in client.do('INFO'), 'the program never waits')
    text = page('/metrics')
    report.check('takt_agent_waiting 1\n' in text and 'takt_agent_held 1\n' in text, 'a program waits', text)
    ends.until(lambda: 'takt_limit_waiting{limit="single",key="k"} 1' in page('/metrics'), 'nobody waits for the key')
    text = page('/metrics')
    report.check('takt_more_workers_help{limit="single",key="k"} 0' in text, 'its key has a row', text)
    client.do('RELEASE', token)
    ends.until(lambda: 'waiting:0\r\nheld:1' in client.do('INFO'), 'the program never holds a permit')
    report.check('takt_agent_held 1\n' in page('/metrics'), 'a program holds a permit')
    here.open_gate('gate')
    report.check(ends.wait(program) == 0, 'the program ends')


def status(report, here):
    here.takt('reset', 'slow')
    here.takt('run', 'slow', '--', 'true')  # the next slot is an hour away
    waits = here.start('run', 'slow', '--', 'true')
    until_waiting(here, ['slow'], 1)
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
    ends.until(lambda: 'takt_limit_waiting{limit="slow",key=""} 1' in page('/metrics'), 'nobody waits for the limit')
    text = page('/metrics')
    report.check('takt_more_workers_help{limit="slow",key=""} 0' in text, 'more workers do not help where the quota is used up',
                 text)
    waits.kill()
    ends.wait(waits)
    of_programs(report, here, client, page)
    end(agent)
    report.check('takt_agent_grants_total 2' in here.read('metrics'), 'the file has the last figures')


def main():
    report = tap.Report()
    with agent_place() as here:
        agent = dead_agent(report, here)
        for part in (dead_client, frozen_client, malformed, slow_reader):
            part(report, here)
        report.check(end(agent) == 0, 'after all that the agent ends well')
        for part in (few_files, no_store, password, no_folder, own_store, socket_activation, notify, group, status,
                     lost_permit, store_errors, nested):
            part(report, here)
    report.end()


main()
