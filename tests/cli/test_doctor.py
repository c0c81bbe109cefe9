#!/usr/bin/env python3
"""
`takt doctor`: its findings about real servers of several kinds, files, and missing ones; it leaves nothing behind, and
shows no secret.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from command import end, place, tap, told, until
import ends
from clusters import cluster
from redis_server import free_port, server
from sentinels import watched

SECRET = 'c4n4ry'

# A clock for a server: gettimeofday and clock_gettime, shifted by so many seconds, or standing still.
CLOCK = r'''
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec now(void)
{
    static struct timespec first;
    const char *shift = getenv("CLOCK_SHIFT");
    struct timespec at;

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &at);
    if (!first.tv_sec)
        first = at;
    if (!shift)
        return first;
    at.tv_sec += atol(shift);
    return at;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec at = now();

    (void)zone;
    time->tv_sec = at.tv_sec;
    time->tv_usec = at.tv_nsec / 1000;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, time);
    *time = now();
    return 0;
}
'''


def script_names():
    """The names in a server of takt's scripts, one for each operation; without that of several claims."""
    embed = pathlib.Path(os.environ['TAKT_SOURCE']) / 'lib' / 'store' / 'redis' / 'embed.py'
    done = subprocess.run([sys.executable, embed, '--sha1'], capture_output=True, text=True, check=True)
    return [line.split()[1] for line in done.stdout.splitlines() if not line.startswith('claims ')]


def look(here, url, *words, **options):
    """The findings by their subject, and how the command ended."""
    done = here.takt('doctor', '--json', '--timeout', '60s', '-s', url, *words, **options)
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(sorted(finding) == ['level', 'subject', 'text'] for finding in findings), done.stdout
    return {finding['subject']: finding for finding in findings}, done


def is_told(findings, subject, level, *words):
    finding = findings.get(subject, {'level': 'nothing', 'text': ''})
    return finding['level'] == level and all(word in finding['text'] for word in words)


def levels(findings):
    return {finding['level'] for finding in findings.values()}


def sound(report, here):
    with server(here.path, appendonly='yes', appendfsync='always') as redis:
        findings, done = look(here, redis.url)
        report.check(done.returncode == 0 and levels(findings) == {'ok', 'note'}
                     and is_told(findings, 'server', 'ok', 'Redis', redis.url)
                     and is_told(findings, 'eviction', 'ok', 'maxmemory is not set')
                     and is_told(findings, 'persistence', 'ok', 'appendfsync always')
                     and is_told(findings, 'clock', 'ok') and is_told(findings, 'rights', 'ok')
                     and is_told(findings, 'hints', 'ok') and is_told(findings, 'role', 'ok', 'primary')
                     and is_told(findings, 'failover', 'note', 'no replica') and is_told(findings, 'use', 'ok'),
                     'a sound server: 0 and no warning', told(done))
        report.check(redis.say('DBSIZE') == '0', 'nothing is left behind', redis.say('KEYS', '*'))
        ran = redis.say('SCRIPT', 'EXISTS', *script_names()).split()
        report.check(set(ran) == {'1'}, 'every operation was tried', ran)
        done = here.takt('doctor', '--timeout', '60s', '-s', redis.url)
        report.check(done.returncode == 0 and done.stdout.startswith('ok       server       Redis ')
                     and done.stdout.endswith('\nThe store can be used.\n'), 'a person gets lines', told(done))
        findings, done = look(here, redis.url + '?hints=off')
        report.check(done.returncode == 0 and is_told(findings, 'hints', 'note', 'hints=off', 'permit'),
                     'hints=off is told', told(done))
        redis.say('CONFIG', 'SET', 'maxmemory', '1mb')
        findings, done = look(here, redis.url)
        report.check(done.returncode == 69 and is_told(findings, 'use', 'error', '"maxmemory"')
                     and is_told(findings, 'eviction', 'warning', 'when they are full'), 'a full server: 69', told(done))
        waiter = here.start('run', '--rate', '10/s', '-s', redis.url, 'mail', '--', 'true')
        said = until(waiter.stderr.fileno(), b'\n').decode()
        waiter.terminate()
        report.check('raise its "maxmemory"' in said and end(waiter)[0] == -signal.SIGTERM,
                     'and `takt run` says what to do about that', said)
        done = here.takt('peek', '--rate', '10/s', '-s', redis.url + '?db=99', 'mail')
        report.check(done.returncode == 69 and '"databases"' in done.stderr, 'as does `takt peek` of what is wrong',
                     told(done))
        redis.process.send_signal(signal.SIGSTOP)
        findings, done = look(here, redis.url, '--timeout', '100ms')
        redis.process.send_signal(signal.SIGCONT)
        report.check(done.returncode == 69 and is_told(findings, 'server', 'error', 'not answer'), 'a frozen server: 69',
                     told(done))


# Options of a server, and which finding they make.
SETTINGS = [
    ({'maxmemory': '64mb', 'maxmemory_policy': 'allkeys-lru'}, 'eviction', 'warning',
     ('MAXMEMORY-POLICY IS allkeys-lru', '64 MiB', 'noeviction')),
    ({'maxmemory_policy': 'volatile-ttl'}, 'eviction', 'warning', ('volatile-ttl', 'is ever set', 'noeviction')),
    ({'maxmemory': '64mb'}, 'eviction', 'ok', ('nothing is evicted', '64 MiB')),
    ({}, 'persistence', 'warning', ('there is none', 'whole burst')),
    ({'save': '900 1'}, 'persistence', 'warning', ('snapshots only', '900 1')),
    ({'appendonly': 'yes'}, 'persistence', 'ok', ('everysec', 'second')),
    ({'appendonly': 'yes', 'appendfsync': 'no'}, 'persistence', 'note', ('half minute',)),
]


def settings(report, here):
    for number, (options, subject, level, words) in enumerate(SETTINGS):
        with server(here.path, f'setting{number}', **options) as redis:
            findings, done = look(here, redis.url)
            report.check(done.returncode == 0 and is_told(findings, subject, level, *words),
                         f'{options or "the defaults"}: {level} of {subject}', told(done))


def replicas(report, here):
    port = free_port()
    with server(here.path, 'primary', port=str(port), repl_diskless_sync_delay='0', min_replicas_to_write='1') as primary, \
            server(here.path, 'replica', replicaof=f'127.0.0.1 {port}') as replica:
        primary.say('WAIT', '1', '0')
        findings, done = look(here, primary.url)
        report.check(done.returncode == 0 and is_told(findings, 'failover', 'note', 'replicas: 1;', 'min-replicas-to-write is 1'),
                     'a primary tells what a failover can cost', told(done))
        findings, done = look(here, replica.url)
        report.check(done.returncode == 69 and is_told(findings, 'role', 'error', f'127.0.0.1:{port}', 'is up'),
                     'a replica names its primary: 69', told(done))
        done = here.takt('doctor', '--load-scripts', '--timeout', '60s', '-s', replica.url)
        report.check(done.returncode == 0 and 'the 12 scripts' in done.stdout, 'and takes scripts, for the day it is promoted',
                     told(done))


def told_of(findings, subject, *words):
    """The findings of a subject that have all of these words."""
    return [finding for finding in findings if finding['subject'] == subject and all(word in finding['text'] for word in words)]


def look_at_all(here, url):
    """The findings in their order: a subject may have several."""
    done = here.takt('doctor', '--json', '--timeout', '60s', '-s', url)
    return [json.loads(line) for line in done.stdout.splitlines()], done


def clusters(report, here):
    shim = str(here.path / 'clock.so')
    report.command('a clock can be built', [*os.environ.get('CC', 'cc').split(), '-shared', '-fPIC', '-o', shim,
                                            here.write('clock.c', CLOCK)])
    with cluster(here.path, environments={4: {'LD_PRELOAD': shim, 'CLOCK_SHIFT': '5'}}, min_replicas_to_write='1') as nodes:
        findings, done = look_at_all(here, nodes.url)
        report.check(done.returncode == 0 and told_of(findings, 'cluster', 'nodes: 6, in 3 shards', '16384'),
                     'a cluster can be used', told(done))
        shards = [told_of(findings, 'shard', f'127.0.0.1:{nodes.ports[nodes.nodes[number]]} has 546',
                          f'replicas: 127.0.0.1:{nodes.ports[nodes.nodes[3 + number]]}; min-replicas-to-write is 1')
                  for number in range(3)]
        report.check(all(len(found) == 1 and found[0]['level'] == 'ok' for found in shards), 'each shard with its replica',
                     told(done))
        report.check(told_of(findings, 'failover', 'awards do not wait', 'replicas=1'), 'what a failover can cost', told(done))
        report.check(told_of(findings, 'coverage', 'is yes', 'CONFIG SET cluster-require-full-coverage no'),
                     'that one shard stops all', told(done))
        ahead = told_of(findings, 'clocks', f'127.0.0.1:{nodes.ports[nodes.nodes[4]]} is at least ')
        report.check(ahead and ahead[0]['level'] == 'warning' and re.search('at least [1-4] s ahead', ahead[0]['text']), 'a node whose clock is ahead', told(done))
        findings, done = look_at_all(here, f'redis://127.0.0.1:{nodes.ports[nodes.nodes[3]]}')
        report.check(done.returncode == 0 and told_of(findings, 'role', 'takt goes to the primaries'), 'a replica will do, too',
                     told(done))
        findings, done = look_at_all(here, nodes.url + '?replicas=2')
        report.check(done.returncode == 69 and len(told_of(findings, 'shard', 'replicas=2 in the URL waits for 2')) == 3,
                     'more replicas wanted than there are: 69', told(done))
        findings, done = look_at_all(here, f'redis://127.0.0.1:{free_port()},{nodes.url.removeprefix("redis://")}')
        report.check(done.returncode == 0 and told_of(findings, 'node', 'Connection refused', 'uses the other nodes'),
                     'a node of the URL that is not there is a warning', told(done))
        for node in nodes.nodes:
            node.say('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
            node.say('ACL', 'SETUSER', 'worker', 'on', '>pass', '~takt:*', '&takt:*', '+@all', '-asking', '-cluster')
        findings, done = look_at_all(here, nodes.url.replace('//', '//worker:pass@'))
        report.check(done.returncode == 0 and told_of(findings, 'cluster', '+cluster|slots') and told_of(findings, 'cluster', '+asking'),
                     'rights that a cluster needs', told(done))
        nodes.nodes[3].stop()
        nodes.wait(lambda: nodes.nodes[0].say('info', 'replication').count('state=online') == 0, 'the replica is still there')
        findings, done = look_at_all(here, nodes.url)
        report.check(told_of(findings, 'node', f'127.0.0.1:{nodes.ports[nodes.nodes[3]]}', 'Connection refused')
                     and told_of(findings, 'coverage', 'is no'), 'a node that is not there is a warning', told(done))


def slots_without_nodes(report, here):
    port, bus = str(free_port()), str(free_port())  # the bus is 10,000 above the port otherwise, where there may be none
    with server(here.path, 'node', port=port, cluster_port=bus, cluster_enabled='yes') as node:
        findings, done = look(here, node.url)
        report.check(done.returncode == 69 and is_told(findings, 'cluster', 'error', 'CLUSTER ADDSLOTSRANGE 0 16383'),
                     'a cluster that was not created: 69, and what to do', told(done))
        node.say('CLUSTER', 'ADDSLOTSRANGE', '0', '16000')
        findings, done = look(here, node.url)
        report.check(done.returncode == 69 and is_told(findings, 'cluster', 'error', '383 of 16384 slots', '--cluster fix'),
                     'slots without a node: 69', told(done))
        node.say('CLUSTER', 'ADDSLOTSRANGE', '16001', '16383')
        findings, done = look(here, node.url)
        report.check(done.returncode == 0 and is_told(findings, 'shard', 'note', 'no replica'),
                     'a cluster of one node can be used', told(done))
    with server(here.path, 'sentinel', sentinel=here.write('sentinel.conf', '')) as watcher:
        findings, done = look(here, watcher.url)
        report.check(done.returncode == 69 and is_told(findings, 'server', 'error', 'is a Sentinel'), 'a Sentinel: 69',
                     told(done))


def socket_alone(report, here):
    """A node of a cluster that listens on a Unix socket alone: its address has no port."""
    with server(here.path, cluster_enabled='yes', cluster_port=str(free_port())) as node:
        node.say('cluster', 'addslotsrange', '0', '16383')
        ends.until(lambda: 'cluster_state:ok' in node.say('cluster', 'info'), 'the slots are not served')
        findings, done = look(here, node.url)
        report.check(done.returncode == 0 and is_told(findings, 'cluster', 'warning', 'without a port', '?cluster=no'),
                     'a node without a port', told(done))


def sentinels(report, here):
    with watched(here.path) as fleet:
        findings, done = look_at_all(here, fleet.url)
        report.check(done.returncode == 0 and told_of(findings, 'failover', 'replicas: 2; awards do not wait', 'replicas=1')
                     and told_of(findings, 'sentinel', '3 of the 3 Sentinels in the URL answer', 'know 3 Sentinels and 2 replicas',
                                 'quorum is 2, and a promotion needs the votes of 2'),
                     'Sentinels tell what they know', told(done))
        findings, done = look_at_all(here, fleet.url + '?replicas=1')
        report.check(done.returncode == 0 and told_of(findings, 'failover', 'an award waits for 1 of them'),
                     'awards that wait for a replica', told(done))
        findings, done = look_at_all(here, fleet.url + '?replicas=3')
        report.check(done.returncode == 69 and told_of(findings, 'failover', 'replicas=3 in the URL waits for 3'),
                     'more replicas wanted than there are: 69', told(done))
        one = fleet.url.split(',', maxsplit=1)[0]
        findings, done = look_at_all(here, f'{one},127.0.0.1:{free_port()}/main')
        report.check(done.returncode == 0 and told_of(findings, 'sentinel', 'Connection refused', 'asks the others')
                     and told_of(findings, 'sentinel', 'lists 2 of 3'), 'a Sentinel that is not there is a warning', told(done))
        for watcher in fleet.sentinels:
            watcher.say('SENTINEL', 'SET', 'main', 'quorum', '4')
        findings, done = look_at_all(here, fleet.url)
        report.check(told_of(findings, 'sentinel', 'quorum is 4', 'promote nobody', 'SENTINEL SET main quorum 2'),
                     'a quorum that cannot be reached', told(done))


def clocks(report, here):
    shim = str(here.path / 'clock.so')
    report.command('a clock can be built', [*os.environ.get('CC', 'cc').split(), '-shared', '-fPIC', '-o', shim,
                                            here.write('clock.c', CLOCK)])
    shifted = {'LD_PRELOAD': shim, 'CLOCK_SHIFT': '-7200'}
    with server(here.path, 'behind', shifted) as redis:
        findings, done = look(here, redis.url)
        report.check(done.returncode == 0 and is_told(findings, 'clock', 'note', '2 h behind the local clock'),
                     'a clock that is behind is told', told(done))
    with server(here.path, 'still', {'LD_PRELOAD': shim}) as redis:
        findings, done = look(here, redis.url, '--timeout', '10s')
        report.check(is_told(findings, 'clock', 'warning', 'stands still'), 'and one that stands still', told(done))


def logins(report, here):
    with server(here.path) as redis:
        redis.say('ACL', 'SETUSER', SECRET, 'on', f'>{SECRET}', 'resetkeys', '~takt:*', 'resetchannels', '-@all',
                  '+evalsha', '+get', '+time')
        secret = here.write('password', f'{SECRET}\n')
        outputs = []
        for name, url, password, words in [
                ('few rights', f'?user={SECRET}&password_file={secret}', '', ('+set +', '+script|load')),
                ('a wrong password', f'?user={SECRET}', f'{SECRET}x', ('(WRONGPASS)',)),
                ('a user without a password', f'?user={SECRET}', '', ('$TAKT_REDIS_PASSWORD',))]:
            here.environment['TAKT_REDIS_PASSWORD'] = password
            findings, done = look(here, redis.url + url)
            outputs.append(done.stdout + done.stderr)
            report.check(done.returncode == 69 and 'error' in levels(findings)
                         and all(word in done.stdout for word in words), f'{name}: 69', told(done))
        here.environment['TAKT_REDIS_PASSWORD'] = SECRET
        findings, done = look(here, f'{redis.url}?user={SECRET}')
        report.check(is_told(findings, 'hints', 'warning', ' +publish +spublish +subscribe +unsubscribe +ssubscribe ')
                     and is_told(findings, 'server', 'note', 'INFO', 'noeviction'),
                     'what is not seen is told, with how to see it', told(done))
        redis.say('ACL', 'SETUSER', SECRET, 'resetkeys', '+@all')
        findings, done = look(here, f'{redis.url}?user={SECRET}')
        outputs.append(done.stdout + done.stderr)
        report.check(done.returncode == 69 and is_told(findings, 'rights', 'error', '~takt:*')
                     and is_told(findings, 'hints', 'warning', '&takt:*'), 'no keys and no channels: 69', told(done))
        redis.say('ACL', 'SETUSER', SECRET, '~takt:*', '&takt:{*}')
        findings, done = look(here, f'{redis.url}?user={SECRET}')
        outputs.append(done.stdout + done.stderr)
        report.check(done.returncode == 0 and is_told(findings, 'rights', 'ok')
                     and is_told(findings, 'hints', 'warning', '&takt:*'), "ledgers' channels alone, and no worker's",
                     told(done))
        for url in (f'redis://{SECRET}:{SECRET}@127.0.0.1:1', f'redis://{SECRET}:{SECRET}@127.0.0.1:x',
                    f'rediss://:{SECRET}@127.0.0.1:1?ca=/none', f'redes://{SECRET}:{SECRET}@host'):
            done = here.takt('doctor', '-s', url)
            outputs.append(done.stdout + done.stderr)
            report.check(done.returncode in (64, 69) and 'error' in done.stdout, f'{url.split("//", maxsplit=1)[0]} {done.returncode}',
                         told(done))
        shown = [output for output in outputs if SECRET in output]
        report.check(not shown, 'neither user nor password is shown', '\n'.join(shown))
        del here.environment['TAKT_REDIS_PASSWORD']


def scripts(report, here):
    with server(here.path) as redis:
        preloaded = redis.url + '?scripts=preloaded'
        findings, done = look(here, preloaded)
        report.check(done.returncode == 69 and is_told(findings, 'use', 'error', 'takt doctor --load-scripts'),
                     'scripts that are to be there and are not: 69', told(done))
        redis.say('ACL', 'SETUSER', 'loader', 'on', '>pass', 'resetkeys', 'resetchannels', '-@all', '+script|load')
        here.environment['TAKT_REDIS_PASSWORD'] = 'pass'
        done = here.takt('doctor', '--load-scripts', '--timeout', '60s', '-s', redis.url + '?user=loader')
        report.check(done.returncode == 0 and 'the 12 scripts' in done.stdout, 'a user who may do nothing else loads them',
                     told(done))
        redis.say('ACL', 'SETUSER', 'loader', '-script|load', '+evalsha')
        findings, done = look(here, redis.url + '?user=loader', '--load-scripts')
        report.check(done.returncode == 69 and is_told(findings, 'scripts', 'error', 'may not run', 'NOPERM')
                     and len(findings) == 1, 'one who may not is told', told(done))
        del here.environment['TAKT_REDIS_PASSWORD']
        findings, done = look(here, preloaded)
        report.check(done.returncode == 0 and is_told(findings, 'use', 'ok'), 'then they can be used', told(done))
    done = here.takt('doctor', '--load-scripts', '-s', 'file:')
    report.check(done.returncode == 64 and 'have no scripts' in done.stdout, 'a file has no scripts: 64', told(done))


def files(report, here):
    del here.environment['TAKT_STORE']
    done = here.takt('doctor', '--json')
    report.check(done.returncode == 0 and '.local/state/takt/ledgers.mdb' in done.stdout and '"use"' in done.stdout,
                 'the default file', told(done))
    path = str(here.path / 'shared.mdb')
    look(here, f'file:{path}')
    os.chmod(path, 0o666)
    findings, done = look(here, f'file:{path}')
    report.check(done.returncode == 0 and is_told(findings, 'access', 'warning', 'chmod o=')
                 and is_told(findings, 'location', 'ok', path), 'a file that all may write is a warning', told(done))
    here.write('not-ours', 'x' * 10000)
    findings, done = look(here, f'file:{here.path}/not-ours')
    report.check(done.returncode == 69 and is_told(findings, 'use', 'error', 'not-ours'), 'a file that is not ours: 69',
                 told(done))
    findings, done = look(here, 'file:/dev/null/x.mdb')
    report.check(done.returncode == 69 and is_told(findings, 'location', 'error', '/dev/null'), 'no such directory: 69',
                 told(done))
    findings, done = look(here, 'memory:')
    report.check(done.returncode == 0 and is_told(findings, 'location', 'note', 'no other process shares'),
                 'memory shares nothing', told(done))
    findings, done = look(here, f'agent:{here.path}/none')
    report.check(done.returncode == 69 and is_told(findings, 'use', 'error', 'start one with takt-agent'),
                 'no agent is there: 69', told(done))


def which(report, here):
    policy = here.write('takt.yaml', 'store: "memory:"\nlimits: [{name: mail, rules: [{rate: 1/s}]}]\n')
    del here.environment['TAKT_STORE']
    done = here.takt('doctor')
    report.check(done.returncode == 0 and 'the memory of this process' in done.stdout, "the policy's store", told(done))
    here.environment['TAKT_STORE'] = 'file:/dev/null/x.mdb'
    done = here.takt('doctor')
    report.check(done.returncode == 69 and '/dev/null' in done.stdout, '$TAKT_STORE before that', told(done))
    here.write('takt.yaml', 'limits: none\n')
    done = here.takt('doctor')
    report.check(done.returncode == 78 and 'takt.yaml' in done.stderr, 'a policy that is broken: 78', told(done))
    os.remove(policy)
    done = here.takt('doctor', '-s', 'tape:')
    report.check(done.returncode == 64 and 'tape:' in done.stdout, 'a store that is none: 64', told(done))
    done = here.takt('doctor', '-s', '/a/path/')
    report.check(done.returncode == 64 and 'did you mean "file:/a/path/"?' in done.stdout, 'a path is not a URL', told(done))
    done = here.takt('doctor', '-s', f'unix:{here.path}/none.sock')
    report.check(done.returncode == 69 and 'cannot connect' in done.stdout, 'no server: 69', told(done))
    done = here.takt('doctor', 'mail')
    report.check(done.returncode == 64, 'a word too many: 64', told(done))


def main():
    report = tap.Report()
    parts = (sound, settings, replicas, clusters, slots_without_nodes, socket_alone, sentinels, clocks, logins, scripts, files, which)
    for part in [part for part in parts if part.__name__ in sys.argv[1:]] or parts:
        with place() as here:
            part(report, here)
    report.end()


if __name__ == '__main__':
    main()
