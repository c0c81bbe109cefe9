"""Three Sentinels, a primary and two replicas of a test script's own, on free ports of the loopback."""

import contextlib

import ends
import redis_server

NAME = 'main'


class Watched:
    """Servers and the Sentinels that watch them. All of them die with the script."""

    wait = staticmethod(ends.until)

    def __init__(self, folder, stack, options, sentinel_lines=(), sentinels=3, replicas=2, quorum=2, tls=False):
        self.tls = tls
        self.folder, self.stack, self.options, self.sentinel_lines = folder, stack, options, sentinel_lines
        self.servers, self.sentinels, self.ports, self.quorum = [], [], {}, quorum
        for number in range(1 + replicas):
            self.add_server(number)
        for number in range(sentinels):
            self.add_sentinel(number)
        self.wait(lambda: all(self.sees(sentinel, replicas, sentinels - 1) for sentinel in self.sentinels),
                  'the Sentinels do not know each other')

    def listening(self, port):
        """The options of a server or Sentinel at that port; with TLS they have the certificates of the servers."""
        if not self.tls:
            return {'port': str(port)}
        return {'port': '0', 'tls_port': str(port), 'tls_replication': 'yes'}

    def add_server(self, number):
        port = redis_server.free_port()
        first = {'replicaof': f'127.0.0.1 {self.ports[self.servers[0]]}'} if self.servers else {}
        server = self.stack.enter_context(redis_server.server(
            self.folder, f'redis{number}', repl_diskless_sync_delay='0', repl_ping_replica_period='1', **self.listening(port),
            **first, **self.options))
        self.ports[server] = port
        self.servers.append(server)

    def add_sentinel(self, number):
        port = redis_server.free_port()
        file = self.folder / f'sentinel{number}.conf'
        lines = [f'sentinel monitor {NAME} 127.0.0.1 {self.ports[self.servers[0]]} {self.quorum}',
                 f'sentinel down-after-milliseconds {NAME} 500', f'sentinel failover-timeout {NAME} 3000',
                 *self.sentinel_lines]
        file.write_text('\n'.join(lines) + '\n')
        sentinel = self.stack.enter_context(redis_server.server(
            self.folder, f'sentinel{number}', sentinel=file, bind='127.0.0.1', **self.listening(port),
            **(self.options if self.tls else {})))
        self.ports[sentinel] = port
        self.sentinels.append(sentinel)

    def sees(self, sentinel, replicas, others):
        """Whether a Sentinel knows that many replicas of the primary, and that many other Sentinels."""
        words = sentinel.say('sentinel', 'master', NAME).split('\n')
        facts = dict(zip(words[::2], words[1::2]))
        return (facts.get('num-slaves'), facts.get('num-other-sentinels')) == (str(replicas), str(others)) and all(
            facts['flags'] == 'master' for facts in [facts])

    @property
    def url(self):
        hosts = ','.join(f'127.0.0.1:{self.ports[sentinel]}' for sentinel in self.sentinels)
        return f'{"rediss" if self.tls else "redis"}-sentinel://{hosts}/{NAME}'

    def primary(self):
        """The server that says it is the primary and that a Sentinel names; None while there is none."""
        for sentinel in self.sentinels:
            if sentinel.process.poll() is not None:
                continue
            named = sentinel.say('sentinel', 'get-master-addr-by-name', NAME).split('\n')
            for server in self.servers:
                if (named[-1] == str(self.ports[server]) and server.process.poll() is None
                        and server.say('role').split('\n')[0] == 'master'):
                    return server
        return None

    def replicas_follow(self, count):
        """Whether that many replicas have an intact link to the primary."""
        primary = self.primary()
        return primary is not None and primary.say('info', 'replication').count('state=online') == count

    def fail_over(self):
        """By a Sentinel's command, while the primary lives. Returns the new primary."""
        before = self.primary()
        self.wait(lambda: self.sentinels[0].say('sentinel', 'failover', NAME) == 'OK', 'no failover begins')
        self.wait(lambda: self.primary() not in (None, before), 'no other server is promoted')
        return self.primary()

    def kill_primary(self):
        """Returns the server that was killed; start() brings it back."""
        primary = self.primary()
        primary.process.kill()
        ends.wait(primary.process)
        return primary


@contextlib.contextmanager
def watched(folder, sentinel_lines=(), sentinels=3, replicas=2, quorum=2, tls=False, **options):
    """Options are those of the servers, as of redis_server.server; with `tls` they name the certificates."""
    with contextlib.ExitStack() as stack:
        yield Watched(folder, stack, options, sentinel_lines, sentinels, replicas, quorum, tls)
