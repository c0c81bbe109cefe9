#!/usr/bin/env python3
"""
Commands on a cluster: each finds the node of its ledger, nested limits need a namespace in braces, and waiters follow a
slot that moves, and are served while it is between two nodes.
"""

import json
import re

from command import end, run, told

from certificates import Authority
from clusters import cluster
from sentinels import watched

PAIR = '--rate', '50/s', '--rate', '100000/h'  # two rules: claims do not have the short form


def key(limit, name='', name_space='default'):
    return f'takt:{{{name_space}/{limit}/{name}}}'


def scripts_run(nodes):
    """How many calls of scripts the nodes have had, those that they refused included."""
    said = ''.join(node.say('info', 'commandstats') for node in nodes.nodes)
    return sum(map(int, re.findall(r'cmdstat_evalsha:calls=(\d+)', said))) + sum(
        map(int, re.findall(r'cmdstat_evalsha:.*rejected_calls=(\d+)', said)))


def spread(nodes, name, name_space='default'):
    """The first keys of a limit that are on each of the nodes."""
    found = {}
    number = 0
    while len(found) < nodes.shards:
        found.setdefault(nodes.ports[nodes.owner(nodes.slot_of(key(name, number, name_space)))], number)
        number += 1
    return list(found.values())


def commands(report, here):
    with cluster(here.path, replicas=0, cluster_require_full_coverage='no') as nodes:
        store = ['-s', nodes.url]
        here.write('takt.yaml', 'policy: store\n')
        here.write('new.yaml', 'limits:\n  - {name: mail, rules: [{rate: 100/s}]}\n')
        keys = spread(nodes, 'mail')
        for words in (['apply', 'new.yaml'], ['policy'], *(['run', f'mail:{number}', '--', 'true'] for number in keys),
                      ['peek', f'mail:{keys[0]}'], ['block', f'mail:{keys[1]}', '10min'], ['unblock', f'mail:{keys[1]}'],
                      ['reset', f'mail:{keys[2]}'], ['doctor', '--timeout', '60s']):
            done = here.takt(*words[:1], *store, *words[1:])
            report.check(done.returncode == 0, f'takt {words[0]}', told(done))
        for number in keys:
            here.takt('block', *store, f'mail:{number}', '10min')
        done = here.takt('top', *store, '--json')
        listed = {json.loads(line).get('key') for line in done.stdout.splitlines()}
        report.check(done.returncode == 0 and {str(number) for number in keys} <= listed, 'takt top lists those of all nodes',
                     told(done))
        policy = nodes.owner(nodes.slot_of('takt:{default//}:policy'))
        dead = next(node for node in nodes.nodes if node is not policy)
        kept = {str(number) for number in keys if nodes.owner(nodes.slot_of(key('mail', number))) is not dead}
        dead.stop()
        done = here.takt('top', *store, '--json')
        listed = {json.loads(line).get('key') for line in done.stdout.splitlines()}
        report.check(kept <= listed and f':{nodes.ports[dead]}' in done.stderr,
                     'takt top lists those of the living nodes, and names a dead one', told(done))


def levels(report, here):
    """Limits within others need a namespace in braces, which puts their ledgers on one node."""
    words = 'job:j', '--within-key', 't', '--within-key', 'v'
    with cluster(here.path, replicas=0) as nodes:
        for name, together in ('plain', False), ('"{braces}"', True):
            failure = '' if together else 'on_store_failure: closed, '  # else the refused work waits
            here.write('takt.yaml', f'namespace: {name}\nlimits:\n'
                       f'  - {{name: job, rules: [{{rate: 1/h, burst: 5}}], {failure}within: team}}\n'
                       '  - {name: team, rules: [{rate: 1/h, burst: 5}], within: vendor}\n'
                       '  - {name: vendor, rules: [{rate: 1/h, burst: 5}], concurrency: 1}\n')
            done = here.takt('run', '-s', nodes.url, *words, '--', 'echo', 'ran')
            if together:
                report.check(done.returncode == 0 and done.stdout == 'ran\n', 'work within three levels', told(done))
            else:
                report.check(done.returncode in (69, 77) and 'limits within others need a namespace in braces' in done.stderr,
                             'a plain namespace is refused, with what to write instead', told(done))
            done = here.takt('doctor', '--timeout', '60s', '-s', nodes.url)
            report.check((done.returncode == 0) == together
                         and ('write namespace: "{plain}"' in done.stdout) != together, f'takt doctor: {name}', told(done))
            done = here.takt('apply', '-s', nodes.url, 'takt.yaml')
            report.check((done.returncode == (0 if together else 78))
                         and ('write namespace: "{plain}"' in done.stderr) != together, f'takt apply: {name}', told(done))
        for name in 'job:j', 'team:t', 'vendor:v':
            left = json.loads(here.takt('peek', '-s', nodes.url, '--json', name).stdout)['rules'][0]['remaining']
            report.check(left == 4, f'{name} has counted', left)


def waits_for(here, file, url, *limit):
    """A command that opens a FIFO once it has its permit."""
    return here.start('run', '-s', url, *limit, '--', 'sh', '-c', f'echo >{file}.started; cat {here.fifo(file)}')


def hand_over(here, nodes, is_heard, between=lambda: None):
    """
    A permit goes from one process to another, which waits until it is_heard(). Whether both ended well.
    """
    limit, number = ('--concurrency', '1', 'held'), len(here.started)
    holder = waits_for(here, f'first{number}', nodes.url, *limit)
    nodes.wait(lambda: (here.path / f'first{number}.started').exists(), 'the first permit is never given')
    waiter = waits_for(here, f'second{number}', nodes.url, *limit)
    nodes.wait(is_heard, 'nobody listens')
    between()
    here.open_gate(f'first{number}')
    nodes.wait(lambda: (here.path / f'second{number}.started').exists(), 'the permit is never handed over')
    here.open_gate(f'second{number}')
    return [end(process)[0] for process in (holder, waiter)] == [0, 0]


def is_listened_to(node, kind):
    """Whether a worker's own channel is listened to."""
    return re.search(r'\{default/held/\}:[0-9a-f]', node.say('pubsub', kind)) is not None


def until_sent(report, here, nodes, node, command, is_heard):
    """Permits are handed over until one was by a wake-up: a waiter's own claim may be quicker."""
    for _ in range(20):
        if re.search(rf'cmdstat_{command}:calls=[1-9]', node.say('info', 'commandstats')):
            report.check(True, f'wake-ups are sent by {command}')
            return
        hand_over(here, nodes, is_heard)
    report.check(False, f'wake-ups are sent by {command}', node.say('info', 'commandstats'))


def wake_ups(report, here):
    """The slot of a limit moves while a permit is held and waited for: the waiter is woken at the new node."""
    with cluster(here.path, replicas=0) as nodes:
        slot = nodes.slot_of(key('held'))
        source = nodes.owner(slot)
        target = next(node for node in nodes.nodes if node is not source)

        def move():
            nodes.move(slot, target)
            nodes.wait(lambda: is_listened_to(target, 'shardchannels') and not is_listened_to(source, 'shardchannels'),
                       'nobody listens at the new node')

        done = hand_over(here, nodes, lambda: is_listened_to(source, 'shardchannels'), move)
        report.check(done, 'a waiter listens where the slot has moved, and is given the permit')
        until_sent(report, here, nodes, target, 'spublish', lambda: is_listened_to(target, 'shardchannels'))


def plain_channels(report, here):
    """Without sharded channels, as on Redis 6.2, wake-ups come by plain ones, which all nodes pass on."""
    with cluster(here.path, replicas=0) as nodes:
        for node in nodes.nodes:
            node.say('acl', 'setuser', 'default', '-ssubscribe', '-sunsubscribe', '-spublish')

        def is_heard():
            return any(is_listened_to(node, 'channels') for node in nodes.nodes)

        report.check(hand_over(here, nodes, is_heard), 'a permit is handed over without sharded channels')
        until_sent(report, here, nodes, nodes.owner(nodes.slot_of(key('held'))), 'publish', is_heard)


def half_moved(report, here):
    """The keys of a ledger are at the new node, and its slot is not: a ledger without a line is served all the time."""
    with cluster(here.path, replicas=0) as nodes:
        slot = nodes.slot_of(key('mail'))
        source = nodes.owner(slot)
        target = next(node for node in nodes.nodes if node is not source)
        lines = here.write('lines', ''.join(f'{number}\n' for number in range(100)))
        worker = here.start('map', '-s', nodes.url, 'mail', *PAIR, '-i', lines, '--log', here.path / 'log', '--', 'true')

        def started():
            return [record['line'] for record in here.records('log', 'start')] if (here.path / 'log').exists() else []

        nodes.wait(lambda: len(started()) >= 20, 'no work')
        nodes.begin_move(slot, source, target)
        nodes.move_keys(slot, source, target)
        before = scripts_run(nodes)
        status, _, messages = end(worker)
        report.check(status == 0 and sorted(started()) == list(range(1, 101)), 'all is done while the slot moves', messages)
        report.check(scripts_run(nodes) > before and nodes.owner(slot) is source, 'and it has not moved yet')
        nodes.end_move(slot, source, target)


def one_namespace(report, here):
    """A user who may use one namespace: in another one each node refuses it, and the message says what is missing."""
    with cluster(here.path, replicas=0) as nodes:
        for node in nodes.nodes:
            node.say('acl', 'setuser', 'worker', 'on', '>secret', '+@all', '~takt:{prod/*', '&takt:{prod/*')
        store = nodes.url.replace('redis://', 'redis://worker:secret@')
        for name, allowed in ('prod', True), ('other', False):
            failure = '' if allowed else 'on_store_failure: closed, '
            here.write('one.yaml', f'namespace: {name}\nlimits:\n  - {{name: mail, {failure}rules: [{{rate: 100/s}}]}}\n')
            keys = spread(nodes, 'mail', name)
            done = [here.takt(*words[:1], '-s', store, '-p', 'one.yaml', *words[1:])
                    for words in (*(['run', f'mail:{number}', '--', 'true'] for number in keys), ['block', f'mail:{keys[0]}', '1s'])]
            if allowed:
                report.check(all(one.returncode == 0 for one in done), 'a user of one namespace works in it', told(done[0]))
            else:
                report.check(all(one.returncode in (69, 77) and 'namespace "other": grant it ~takt:{other/* and' in one.stderr
                                 for one in done), 'another one is refused, and what to grant is said', [told(one) for one in done])
            done = here.takt('doctor', '--timeout', '60s', '-s', store, '-p', 'one.yaml')
            report.check((done.returncode == 0) == allowed and ('error    rights' in done.stdout) != allowed,
                         f'takt doctor in the namespace {name}', told(done))


def tls(report, here):
    """TLS to all nodes of a cluster, and to Sentinels and their servers; each must have a certificate that is trusted."""
    own, other = Authority(here, '127.0.0.1'), Authority(here, '127.0.0.2')
    options = {'tls_cert_file': own.certificate, 'tls_key_file': own.key, 'tls_ca_cert_file': own.ca,
               'tls_auth_clients': 'no'}
    with cluster(here.path, replicas=0, tls=True, **options) as nodes:
        keys = spread(nodes, 'mail')
        for number in keys:
            done = here.takt('run', '-s', f'{nodes.tls_url}?ca={own.ca}', '--rate', '10/s', f'mail:{number}', '--', 'true')
            report.check(done.returncode == 0, 'work at each node, with TLS', told(done))
        report.check(all('cmdstat_evalsha' in node.say('info', 'commandstats') for node in nodes.nodes),
                     'each node was used')
        done = here.takt('doctor', '--timeout', '60s', '-s', f'{nodes.tls_url}?ca={own.ca}')
        report.check(done.returncode == 0 and 'in 3 shards' in done.stdout and 'clocks' in done.stdout, 'takt doctor asks all nodes',
                     told(done))
        done = here.takt('doctor', '--timeout', '60s', '-s', f'{nodes.tls_url}?ca={other.ca}')
        report.check(done.returncode == 69 and 'certificate' in done.stdout, 'an authority that is not trusted', told(done))
    with watched(here.path, tls=True, **options) as fleet:
        done = here.takt('run', '-s', f'{fleet.url}?ca={own.ca}', '--rate', '10/s', 'mail', '--', 'true')
        report.check(done.returncode == 0, 'work behind Sentinels, with TLS', told(done))
        done = here.takt('doctor', '--timeout', '60s', '-s', f'{fleet.url}?ca={own.ca}')
        report.check(done.returncode == 0 and '3 of the 3 Sentinels' in done.stdout, 'takt doctor asks the Sentinels', told(done))
        fleet.fail_over()
        done = here.takt('run', '-s', f'{fleet.url}?ca={own.ca}', '--rate', '10/s', 'mail', '--', 'true')
        report.check(done.returncode == 0, 'and after a failover', told(done))
        done = here.takt('doctor', '--timeout', '60s', '-s', f'{fleet.url}?ca={other.ca}')
        report.check(done.returncode == 69 and 'certificate' in done.stdout, 'a Sentinel that is not trusted', told(done))


if __name__ == '__main__':
    run(commands, levels, wake_ups, plain_channels, half_moved, one_namespace, tls)
