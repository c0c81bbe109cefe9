"""A Redis Cluster of a test script's own: three primaries and their replicas, on free ports of the loopback."""

import contextlib
import re

import ends
import redis_server

SLOTS = 16384


class Cluster:
    """Its nodes: the primaries, then their replicas in the same order. All of them die with the script."""

    wait = staticmethod(ends.until)

    def __init__(self, folder, stack, options, shards=3, replicas=1, environments=None, tls=False):
        self.nodes, self.ports, self.tls_ports = [], {}, {}
        self.shards = shards
        for number in range(shards * (1 + replicas)):
            port = str(redis_server.free_port())
            settings = {'cluster_enabled': 'yes', 'cluster_port': str(redis_server.free_port()), 'port': port,
                        'cluster_node_timeout': '5000', 'cluster_replica_validity_factor': '0',
                        'repl_ping_replica_period': '1', 'repl_diskless_sync_delay': '0', **options}
            if tls:
                settings |= {'tls_port': str(redis_server.free_port()), 'tls_cluster': 'yes', 'tls_replication': 'yes'}
            node = stack.enter_context(redis_server.server(folder, f'node{number}', (environments or {}).get(number), **settings))
            self.nodes.append(node)
            self.ports[node] = port
            self.tls_ports[node] = settings.get('tls_port')
        self.ids = {node: node.say('cluster', 'myid') for node in self.nodes}
        self.form(replicas)

    def form(self, replicas):
        """Shares the slots out among the primaries, and waits until all nodes know and follow."""
        for number, node in enumerate(self.nodes):
            self.must(node, 'cluster', 'set-config-epoch', str(number + 1))
        for number, node in enumerate(self.nodes[:self.shards]):
            self.must(node, 'cluster', 'addslotsrange', str(number * SLOTS // self.shards),
                      str((number + 1) * SLOTS // self.shards - 1))
        first = self.nodes[0]
        for node in self.nodes[1:]:
            bus = node.say('config', 'get', 'cluster-port').split('\n')[1]
            self.must(first, 'cluster', 'meet', '127.0.0.1', self.tls_ports[node] or self.ports[node], bus)
        for node in self.nodes:
            self.wait(lambda: f'cluster_known_nodes:{len(self.nodes)}\n' in node.say('cluster', 'info'),  # pylint: disable=cell-var-from-loop
                      'the nodes do not meet')
        for number, node in enumerate(self.nodes[self.shards:]):
            primary = self.ids[self.nodes[number % self.shards]]
            self.wait(lambda: node.say('cluster', 'replicate', primary) == 'OK', 'a replica finds no primary')  # pylint: disable=cell-var-from-loop
        for node in self.nodes:
            self.wait(lambda: 'cluster_state:ok' in node.say('cluster', 'info'), 'not all slots are served')  # pylint: disable=cell-var-from-loop
        self.wait(self.replicas_follow, 'a replica does not follow')
        for node in self.nodes:  # each learns of the replicas by itself
            self.wait(lambda: all(self.ids[replica] in node.say('cluster', 'slots') for replica in self.nodes[self.shards:]),  # pylint: disable=cell-var-from-loop
                      'a replica is not known')

    @staticmethod
    def must(node, *words):
        said = node.say(*words)
        assert said == 'OK', f'{words}: {said}'

    @property
    def url(self):
        return 'redis://' + ','.join(f'127.0.0.1:{self.ports[node]}' for node in self.nodes[:self.shards])

    @property
    def tls_url(self):
        return 'rediss://' + ','.join(f'127.0.0.1:{self.tls_ports[node]}' for node in self.nodes[:self.shards])

    def replicas_follow(self):
        said = [node.say('info', 'replication') for node in self.nodes if node.process.poll() is None]
        return all('role:master' in text or 'master_link_status:up' in text for text in said)

    def fail_over(self, node):
        """By CLUSTER FAILOVER of the node's replica, which is returned."""
        replica = self.nodes[(self.nodes.index(node) + self.shards) % len(self.nodes)]
        self.wait(lambda: replica.say('cluster', 'failover') == 'OK', 'no failover begins')
        self.wait(lambda: replica.say('role').startswith('master') and 'cluster_state:ok' in replica.say('cluster', 'info'),
                  'the replica is not promoted')
        return replica

    def owner(self, slot):
        """The node that says that it has the slot."""
        for node in self.nodes:
            own = next(line for line in node.say('cluster', 'nodes').split('\n') if 'myself' in line)
            if 'master' not in own:
                continue
            for first, last in re.findall(r' (\d+)(?:-(\d+))?(?= |$)', own.split('connected', 1)[1]):
                if int(first) <= slot <= int(last or first):
                    return node
        return None

    def slot_of(self, key):
        return int(self.nodes[0].say('cluster', 'keyslot', key))

    def begin_move(self, slot, source, target):
        self.must(target, 'cluster', 'setslot', str(slot), 'importing', self.ids[source])
        self.must(source, 'cluster', 'setslot', str(slot), 'migrating', self.ids[target])

    def move_keys(self, slot, source, target):
        while key := source.say('cluster', 'getkeysinslot', str(slot), '1'):
            said = source.say('migrate', '127.0.0.1', self.ports[target], key, '0', '5000')
            assert said in ('OK', 'NOKEY'), said

    def end_move(self, slot, source, target):
        """A message that was under way may claim the slot for its former node once more."""
        def moved():
            self.must(target, 'cluster', 'setslot', str(slot), 'node', self.ids[target])
            self.must(source, 'cluster', 'setslot', str(slot), 'node', self.ids[target])
            return self.owner(slot) is target

        self.move_keys(slot, source, target)
        self.wait(moved, 'a slot does not move')

    def move(self, slot, target):
        source = self.owner(slot)
        self.begin_move(slot, source, target)
        self.end_move(slot, source, target)


@contextlib.contextmanager
def cluster(folder, shards=3, replicas=1, environments=None, tls=False, **options):
    """
    Options are those of the nodes, as of redis_server.server; `environments` those of nodes by their number. `tls`: they
    have ports for TLS, too; the options name the certificates.
    """
    with contextlib.ExitStack() as stack:
        yield Cluster(folder, stack, options, shards, replicas, environments, tls)
