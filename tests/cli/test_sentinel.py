#!/usr/bin/env python3
"""
Through Sentinels: every command finds the primary, work continues when it moves, by order or by a kill, and a named
server that is no primary is not used.
"""

import re
import socketserver
import threading

from command import SOURCE, end, over_quota, run, told

import redis_server
from sentinels import NAME, watched

JOBS = 240
RATE = 40


def commands(report, here):
    with watched(here.path, sentinels=1, replicas=1, quorum=1) as fleet:
        store = ['-s', fleet.url]
        here.write('takt.yaml', 'policy: store\n')
        here.write('new.yaml', 'limits:\n  - {name: mail, rules: [{rate: 100/s}]}\n')
        for words in (['apply', 'new.yaml'], ['policy'], ['run', 'mail', '--', 'true'], ['peek', 'mail'], ['block', 'mail', '1ms'],
                      ['top', '--json'], ['doctor', '--timeout', '60s']):
            done = here.takt(*words[:1], *store, *words[1:])
            report.check(done.returncode == 0, f'takt {words[0]}', told(done))
        report.check(f'redis://127.0.0.1:{fleet.ports[fleet.servers[0]]}/0' in done.stdout, 'takt doctor names the primary',
                     told(done))
        for name, url, words in [
                ('a name that nobody watches', fleet.url.replace(NAME, 'other'), 'it watches no primary named other'),
                ('no Sentinel there', f'redis-sentinel://127.0.0.1:{redis_server.free_port()}/{NAME}', 'Connection refused'),
                ('a server that is no Sentinel', f'redis-sentinel://127.0.0.1:{fleet.ports[fleet.servers[0]]}/{NAME}',
                 'it is no Sentinel: name a Sentinel'),
                ('a Sentinel as a server', f'redis://127.0.0.1:{fleet.ports[fleet.sentinels[0]]}', 'is a Sentinel, which keeps no data')]:
            done = here.takt('doctor', '--timeout', '60s', '-s', url)
            report.check(done.returncode == 69 and words in done.stdout, name, told(done))


def mapped(here, fleet, number, options=''):
    """A worker with its part of the jobs."""
    lines = here.write(f'jobs{number}', ''.join(f'{line}\n' for line in range(JOBS)))
    return here.start('map', '-s', fleet.url + options, 'mail', '--rate', f'{RATE}/s', '-i', lines, '--log', f'{here.path}/log{number}', '--',
                      'true')


def until_started(here, fleet, number, count):
    path = here.path / f'log{number}'
    fleet.wait(lambda: path.exists() and path.read_text(encoding='utf-8').count('"start"') >= count, f'never {count} jobs')


def failovers(report, here):
    """Workers continue after two failovers, one by order and one by a kill; each job is done once."""
    with watched(here.path) as fleet:
        workers = [mapped(here, fleet, number) for number in range(2)]
        until_started(here, fleet, 0, 20)
        fleet.fail_over()
        until_started(here, fleet, 0, 60)
        fleet.wait(lambda: fleet.replicas_follow(2), 'the replicas never follow')
        killed = fleet.kill_primary()
        fleet.wait(lambda: fleet.primary() not in (None, killed), 'nobody is promoted')
        for number, worker in enumerate(workers):
            status, _, messages = end(worker)
            started = here.records(f'log{number}', 'start')
            report.check(status == 0 and sorted(record['line'] for record in started) == list(range(1, JOBS + 1)),
                         f'worker {number} has done each of its jobs, once', messages)


def durable(report, here):
    """With replicas=2 every replica has each award that was used: no failover gives a token twice."""
    with watched(here.path) as fleet:
        workers = [mapped(here, fleet, number, '?replicas=2&replica_timeout=300ms') for number in range(2)]
        for count in (15, 45):
            until_started(here, fleet, 0, count)
            killed = fleet.kill_primary()
            fleet.wait(lambda: fleet.primary() not in (None, killed), 'nobody is promoted')
            killed.start()
            fleet.wait(lambda: fleet.replicas_follow(2), 'the replicas never follow')
        ends = [end(worker) for worker in workers]
        report.check(all(status == 0 for status, _, _ in ends), 'work goes on after each kill', ends)
        slots = [record['slot_us'] for number in range(2) for record in here.records(f'log{number}', 'start')]
        found = over_quota(slots, RATE, 1000000, 1)
        report.check(len(slots) == 2 * JOBS and found is None, 'each job has a slot, and the quota is kept', f'{found}, {ends}')


class Liar(socketserver.StreamRequestHandler):
    """A Sentinel that names the test's server: it answers the commands that takt sends."""

    def handle(self):
        while count := self.rfile.readline():
            words = [self.word() for _ in range(int(count[1:]))]
            if words[0] == b'SENTINEL':
                self.server.asked += 1
                port = str(self.server.ports[min(self.server.asked, len(self.server.ports)) - 1]).encode()
                self.wfile.write(b'*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%s\r\n' % (len(port), port))
            elif words[0] in (b'SUBSCRIBE', b'UNSUBSCRIBE'):
                self.wfile.write(b'*3\r\n$%d\r\n%s\r\n$14\r\n+switch-master\r\n:1\r\n' % (len(words[0]), words[0].lower()))
            else:
                self.wfile.write(b'+OK\r\n')

    def word(self):
        size = int(self.rfile.readline()[1:])
        return self.rfile.read(size + 2)[:-2]


class Liars(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def demoted(report, here):
    """A Sentinel names a replica some times before it names the primary: the replica is asked for its role alone."""
    port, other = redis_server.free_port(), redis_server.free_port()
    with redis_server.server(here.path, 'primary', port=str(port)) as primary, \
            redis_server.server(here.path, 'demoted', port=str(other), replicaof=f'127.0.0.1 {port}') as replica, \
            Liars(('127.0.0.1', 0), Liar) as liar:
        liar.asked, liar.ports = 0, [other, other, other, port]
        threading.Thread(target=liar.serve_forever, daemon=True).start()
        done = here.takt('map', '-s', f'redis-sentinel://127.0.0.1:{liar.server_address[1]}/{NAME}', 'mail', '--rate', '100/s',
                         '--', 'true', input='1\n2\n3\n')
        liar.shutdown()
        report.check(done.returncode == 0 and 'it is a replica' in done.stderr, 'work waits for the primary', told(done))
        said = replica.say('info', 'commandstats')
        report.check('cmdstat_role:' in said and 'cmdstat_evalsha' not in said, 'a replica is asked for its role alone',
                     said)
        report.check('cmdstat_evalsha' in primary.say('info', 'commandstats'), 'and the primary is used')


def documented(name):
    """The words of an ACL SETUSER that docs/redis.md prints; its password is the user's name."""
    text = (SOURCE / 'docs' / 'redis.md').read_text(encoding='utf-8')
    found = re.search(rf'^```\n(ACL SETUSER {name} on .*?)^```$', text, re.S | re.M)
    return [word.replace('>PASSWORD', f'>{name}') for word in found.group(1).split()]


def logins(report, here):
    """The login at Sentinels and the one at servers, each with the rights that docs/redis.md lists."""
    with watched(here.path, sentinels=1, replicas=0, quorum=1) as fleet:
        server, sentinel = fleet.servers[0], fleet.sentinels[0]
        server.say(*documented('worker'))
        sentinel.say(*documented('watcher'))
        sentinel.say('ACL', 'SETUSER', 'default', 'resetpass', '>boss')
        here.environment['TAKT_REDIS_PASSWORD'] = 'worker'
        plain = fleet.url.replace('://', '://worker@')
        full = f'{plain}?sentinel_user=watcher&sentinel_password_file={here.write("watcher", "watcher")}'
        words = ['run', '--rate', '100/s', 'mail', '--', 'true']
        done = here.takt('doctor', '--timeout', '60s', '-s', plain)
        report.check(done.returncode == 69 and 'sentinel_password_file=' in done.stdout, 'without a login at Sentinels', told(done))
        done = here.takt('doctor', '--timeout', '60s', '-s', full)
        report.check(done.returncode == 69 and 'grant it +role' in done.stdout, 'without the right to ask for the role', told(done))
        server.say('ACL', 'SETUSER', 'worker', '+role')
        done = here.takt(words[0], '-s', full, *words[1:])
        report.check(done.returncode == 0, 'with both logins and these rights work is done', told(done))
        sentinel.say('ACL', 'SETUSER', 'watcher', '-sentinel|get-master-addr-by-name', user='default:boss')
        done = here.takt('doctor', '--timeout', '60s', '-s', full)
        report.check(done.returncode == 69 and 'grant it +sentinel|get-master' in done.stdout, 'a Sentinel that refuses', told(done))


if __name__ == '__main__':
    run(commands, failovers, durable, demoted, logins)
