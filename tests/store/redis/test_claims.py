#!/usr/bin/env python3
"""
Several claims in one script (lua/claims.lua) decide as the same claims one after the other: the same replies, and the
same ledgers. One database gets whole calls, the other single claims. Usage: test_claims.py [SEED [CALLS]]
"""

import pathlib
import random
import socket
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[3] / 'lib/store/redis'), str(HERE.parents[2] / 'cli')]

import embed  # noqa: E402
import tap  # noqa: E402
from command import place  # noqa: E402
from redis_server import server  # noqa: E402

SEAM = 'local clock = { 0, table.remove(ARGV) }'
BEGIN_US = 4000000000000000  # keys expire by the server's own clock
OUTER = ['g1/10000*1 1000000 0 250000', 'g1/20000*10 1000000 0 250000', 'g1/10000*1;g60/60000000*90 60000000 0 250000']
INNER = ['g1/200000*1 1000000 0 250000', 'g1/100000*3 1000000 0 250000', 'g1/2000000*2 2000000 0 250000']
BOUNDS = ['0', '0', '5', '30', '4o', '40o', '8u']  # max_waiting and when_full


class Connection:
    """A database of the server. Errors are returned as texts."""

    def __init__(self, path, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile('rb')
        self.say('SELECT', database)

    def say(self, *words):
        encoded = [str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(encoded) + b''.join(b'$%d\r\n%s\r\n' % (len(one), one) for one in encoded))
        return self.reply()

    def reply(self):
        line = self.file.readline().rstrip()
        kind, rest = line[:1], line[1:]
        if kind in b'+-':
            return line.decode()
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return None if rest == b'-1' else self.file.read(int(rest) + 2)[:-2].decode()
        return [self.reply() for _ in range(int(rest))]

    def ledgers(self):
        return {key: self.say('GET', key) for key in sorted(self.say('KEYS', '*'))}


class Fleet:
    """Random claims of a few workers for a few accounts. `chance` is the only course of chance."""

    def __init__(self, chance):
        self.chance, self.now, self.seq = chance, BEGIN_US, 0
        self.outer = f'{chance.choice(OUTER)} {chance.choice(BOUNDS)} '
        self.inner = [f'{chance.choice(INNER)} {chance.choice(BOUNDS)} ' for _ in range(10)]

    def pass_time(self):
        self.now += self.chance.choice([0, 0, 1, 7000, 40000, 250000, 1000000]) * self.chance.randint(1, 3)
        if self.chance.random() < 0.01:
            self.now += 7000000

    def claim(self):
        """The keys and the arguments of a claim."""
        chance = self.chance
        worker, account = chance.randint(1, 4), chance.randrange(10)
        self.seq += 1
        seq = self.seq if chance.random() < 0.95 else max(self.seq - 5, 1)
        wants, waiting = [], 0
        for priority in sorted(chance.sample(range(10), chance.choice([0, 1, 1, 1, 2]))):
            count = chance.choice([1, 1, 2, 4, 30])
            waiting += count
            wants += [count, -1, 1, priority]
        name = f'k{account}' if chance.random() < 0.9 else f't{account % 3}'  # by account, or with `fair`
        refuses = any(bound in self.outer + self.inner[account] for bound in (' 5 ', ' 30 '))
        newcomers = f',{chance.randint(0, waiting)}' if refuses else ''
        told = f'{waiting}{newcomers}@{chance.choice([1, 1, 3])},{worker:x},{name}'
        fields = [f'{worker * 1000 + account:x}', seq, told, *wants]
        keys = ['takt:{outer}', 'takt:{outer}:line', 'takt:{outer}:places', 'takt:{outer}', 'takt:{outer}',
                f'takt:{{k{account}}}', f'takt:{{k{account}}}:log']
        return keys, [f'{self.outer} {" ".join(map(str, fields))}', self.inner[account], self.now]


def whole(sha, claims):
    counts = ' '.join(f'{len(keys)},{len(arguments)}' for keys, arguments in claims)
    keys = [key for keys, _ in claims for key in keys]
    return ['EVALSHA', sha, len(keys), *keys, counts, *(word for _, arguments in claims for word in arguments)]


def told(reply):
    """A reply; of an error its word, wherever it stands."""
    return reply.replace('ERR ', '').split()[0] if isinstance(reply, str) else reply


def run(report, path, seed, calls):
    together, alone = Connection(path, 0), Connection(path, 1)
    claims_script, claim_script = (together.say('SCRIPT', 'LOAD', embed.join(name, SEAM)) for name in ('claims', 'claim'))
    chance = random.Random(seed)
    granted = tenants = left = 0
    for number in range(calls):
        if number % 100 == 0:
            together.say('FLUSHALL')
            fleet = Fleet(chance)
        fleet.pass_time()
        if chance.random() < 0.03:  # the claims of a key without a ledger's text fail, others do not
            spoil = chance.choice(['RPUSH', 'SET', 'DEL'])
            for database in (together, alone):
                database.say('DEL', 'takt:{k3}')
                database.say(spoil, 'takt:{k3}', *['x'][:spoil != 'DEL'])
        claims = [fleet.claim() for _ in range(chance.randint(1, 8))]
        got = [told(one) for one in together.say(*whole(claims_script, claims))]
        wanted = [told(alone.say('EVALSHA', claim_script, len(keys), *keys, *arguments)) for keys, arguments in claims]
        ledgers = together.ledgers(), alone.ledgers()
        if got != wanted or ledgers[0] != ledgers[1]:
            report.check(False, f'seed {seed}, call {number}', '\n'.join(map(str, [claims, got, wanted, *ledgers])))
            return
        granted += sum(isinstance(one, list) and len(one) > 11 for one in got)
        left += sum(isinstance(one, list) and len(one) > 7 and isinstance(one[7], str) for one in got)
        tenants = max(tenants, (together.say('GET', 'takt:{outer}') or '').count(';p'))
    report.check(True, f'seed {seed}: {calls} calls decide as single claims do')
    report.check(granted > calls / 4 and tenants > 5, 'claims are granted, and many wait', f'{granted} {tenants}')
    report.check(left > calls / 20, 'waiters leave where the levels differ in when_full', str(left))


def main():
    report = tap.Report()
    seed, calls = (list(map(int, sys.argv[1:])) + [1, 400][len(sys.argv) - 1:])[:2]
    with place() as here, server(here.path) as redis:
        run(report, redis.socket, seed, calls)
    report.end()


if __name__ == '__main__':
    main()
