#!/usr/bin/env python3
"""The commands of takt-agent: their answers, and the messages of their errors."""

import contextlib
import pathlib
import re
import select
import signal
import time

from agent import DEADLINE, agent_place, end, ends, tap, until, until_waiting


def permits(report, here):
    client, other = here.client(), here.client()
    token, fence, slot, waited = client.do('ACQUIRE', 'single')
    report.check(len(token) == 16 and fence > 0 and slot > 0 and waited >= 0, 'a permit has four values',
                 (token, fence, slot, waited))
    report.check(other.do('TRY', 'single') is None, 'another process has none meanwhile')
    other.send('acquire', 'single')
    report.check(client.do('RELEASE', token) == 1, 'it is released by its token')
    second = other.answer()
    report.check(second[1] > fence, 'then the other one has it, with a higher fencing number', second)
    report.check(client.do('RELEASE', token) == 0, 'released again it is no permit')
    report.check(client.do('ACQUIRE', 'single', 'WAIT', 20) is None, 'nil when WAIT is over')
    other.close()
    report.check(client.do('ACQUIRE', 'single')[1] > second[1], 'a connection that ends gives back at once')
    client.close()


def detaching(report, here):
    client, other = here.client(), here.client()
    token = client.do('ACQUIRE', 'single', 'DETACH', '1h')[0]
    client.close()
    report.check(other.do('TRY', 'single') is None, 'a detached permit outlives its connection')
    report.check(other.do('DETACH', token, 0) == 1, 'its holder comes back with the token')
    third = here.client()
    third.send('ACQUIRE', 'single')
    other.close()
    report.check(third.answer()[1] > 0, 'then it ends with the new connection')
    third.close()
    client = here.client()
    client.do('ACQUIRE', 'single', 'DETACH', 30)
    client.close()
    client = here.client()
    report.check(client.do('ACQUIRE', 'single')[1] > 0, 'it is free when the time is over')
    client.close()


def detached_many(report, here):
    """Permits that hold nothing are kept up to a bound when their connections end."""
    first = last = None
    for _ in range(18):
        client = here.client()
        client.socket.sendall(client.words('ACQUIRE', 'fast', 'DETACH', '1h') * 1000)
        tokens = [client.answer()[0] for _ in range(1000)]
        client.close()
        first, last = first or tokens[0], tokens[-1]
    client = here.client()
    report.check(client.do('RELEASE', first) == 0 and client.do('RELEASE', last) == 1,
                 'of many detached permits without a fencing number the last ones are kept')
    client.close()


def tags(report, here):
    client = here.client(3)
    holder = here.client()
    token = holder.do('ACQUIRE', 'single')[0]
    queued = [client.do('ACQUIRE', 'single', 'TAG', f'w{i}') for i in range(3)]
    report.check(queued == ['QUEUED'] * 3, 'with a tag the answer comes at once', queued)
    report.check('has the tag' in client.refused('ACQUIRE', 'single', 'TAG', 'w1'), 'a tag has one waiter')
    report.check(client.do('CANCEL', 'w0') == 1 and client.do('CANCEL', 'w0') == 0, 'CANCEL ends a waiter once')
    holder.do('RELEASE', token)
    first = client.push()
    report.check(first[:2] == ('acquired', 'w1') and len(first) == 6, 'the permit comes with the tag', first)
    client.do('RELEASE', first[2])
    report.check(client.push()[:2] == ('acquired', 'w2'), 'the next one when it is released')
    client.do('ACQUIRE', 'single', 'TAG', 'w3', 'WAIT', 20)
    refused = client.push()
    report.check(refused[:3] == ('refused', 'w3', 'DEADLINE'), 'and a refusal when WAIT is over', refused)
    report.check(here.client().refused('ACQUIRE', 'single', 'TAG', 'x').startswith('ERR TAG needs RESP3'),
                 'RESP2 has no tags')
    client.close()
    holder.close()


def refusals(report, here):
    client = here.client()
    for code, words, sentence in [
            ('NOLIMIT', ['ACQUIRE', 'nowhere'], 'has no limit "nowhere"'),
            ('COST', ['ACQUIRE', 'mail', 'COST', 2], 'mail'),
            ('NOLIMIT', ['ACQUIRE', 'maill'], 'did you mean "mail"?'),
            ('NOLIMIT', ['PEEK', 'maill'], 'did you mean "mail"?'),
            ('NOLIMIT', ['TRY', 'nowhere'], 'POLICY lists'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', 'lots'], 'the number behind the unit of COST is missing'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', 'lots', 'more'], 'not "more"'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', '1.5'], 'COST is a whole number from 1 to 1000000, not "1.5"'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', '9' * 20], 'COST is a whole number'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', ''], 'COST is a whole number'),
            ('ERR', ['ACQUIRE', 'mail', 'COST', 0], 'a whole number from 1'),
            ('ERR', ['ACQUIRE', 'mail', 'WAIT', 'soon'], 'milliseconds'),
            ('ERR', ['ACQUIRE', 'mail', 'WEIT', 5], 'there are: COST'),
            ('ERR', ['ACQUIRE', ':key'], "limit's name"),
            ('ERR', ['ACQUIRE', 'mail:'], 'leave out the colon'),
            ('ERR', ['ACQUIRE', b'mail\0'], 'NUL'),
            ('ERR', ['ACQUIRE', 'mail', 'WITHIN', 'a'], 'WITHIN KEY'),
            ('ERR', ['ACQUIRE'], 'write ACQUIRE LIMIT[:KEY] [COST'),
            ('ERR', ['BLOCK', 'mail'], 'write BLOCK LIMIT[:KEY] MS [REASON TEXT]'),
            ('ERR', ['POLICY', 'mail'], 'write POLICY'),
            ('ERR', ['RELAESE', 'x'], 'did you mean RELEASE'),
            ('ERR', ['BLOCK', 'mail', 100, 'REASON', 'two\nlines'], 'BLOCK'),
            ('ERR', ['SELECT', 1], 'SELECT 0'),
            ('ERR', ['DEFINE', 'mail', 'RATE', '5/s'], "a limit of the agent's policy: 100/s"),
            ('ERR', ['DEFINE', 'new', 'RATE', 'often'], 'rate'),
            ('ERR', ['DEFINE', 'new', 'BURST', 5], 'after its RATE'),
            ('ERR', ['DEFINE', 'new', 'RATE', '5/s', 'WITHIN', 'mail'], "belongs in the agent's policy"),
            ('NOPROTO', ['HELLO', 4], 'HELLO 3')]:
        said = client.refused(*words)
        report.check(said.startswith(code + ' ') and sentence in said, f'{code} for {words}', said)
    report.check(client.do('PING') == 'PONG', 'after all of them the connection is as before')
    client.do('ACQUIRE', 'few')
    waiters = [here.client() for _ in range(3)]
    for waiter in waiters[:2]:
        waiter.send('ACQUIRE', 'few')
    until_waiting(here, ['few'], 2)
    said = waiters[2].refused('ACQUIRE', 'few')
    report.check(said.startswith('FULL '), 'FULL where more would wait than may', said)
    for waiter in [*waiters, client]:
        waiter.close()


def amounts(report, here):
    client = here.client(3)
    token = client.do('ACQUIRE', 'tokens:a', 'COST', 'tokens', 800)[0]
    left = client.do('PEEK', 'tokens:a')['remaining']
    report.check(200 <= left < 300, 'an amount of a unit is taken', left)
    report.check(client.do('RELEASE', token, 'COST', 'tokens', 100) == 1, 'RELEASE settles')
    left = client.do('PEEK', 'tokens:a')['remaining']
    report.check(left >= 900, 'what was not used is there again', left)
    token = client.do('ACQUIRE', 'tokens:b', 'COST', 'tokens', 800)[0]
    client.do('SETTLE', token)
    report.check(client.do('PEEK', 'tokens:b')['remaining'] == 1000, 'SETTLE without COST: it was not begun')
    report.check('settled before' in client.refused('SETTLE', token, 'COST', 'tokens', 5), 'once')
    several(report, here, client)
    client.close()


def several(report, here, client):
    """A limit that counts requests and two units; DEFINE makes one, and the policy has one."""
    client.do('DEFINE', 'model', 'RATE', '100/h', 'BURST', 100, 'COUNTS', 'requests', 'RATE', '1000/min', 'BURST', 1000,
              'COUNTS', 'tokens', 'RATE', '500/h', 'BURST', 500, 'COUNTS', 'images', 'DEFAULT_AMOUNT', 2)

    def left():
        return [(rule['unit'], rule['remaining']) for rule in client.do('PEEK', 'model')['rules']]

    token = client.do('ACQUIRE', 'model', 'COST', 'images', 30, 'COST', 'tokens', 1000)[0]
    now = left()
    report.check([unit for unit, _ in now] == ['requests', 'tokens', 'images'] and now[0][1] == 99 and now[1][1] < 100
                 and now[2][1] == 470, 'amounts of several units are taken', now)
    report.check(client.do('TRY', 'model', 'COST', 'tokens', 900) is None, 'TRY finds too little of one')
    client.do('RELEASE', token, 'COST', 'tokens', 100, 'COST', 'images', 40)
    now = left()
    report.check(now[1][1] >= 900 and now[2][1] == 460, 'RELEASE settles both', now)
    token = client.do('ACQUIRE', 'model', 'COST', 'tokens', 5)[0]
    report.check(left()[2][1] == 458, 'a unit that is not stated takes its default')
    client.do('SETTLE', token, 'COST', 'images', 8)
    report.check(left()[2][1] == 452, 'SETTLE corrects one of them')
    client.do('LOWER', 'model', 50, 'images')
    report.check(left()[2][1] == 50 and left()[0][1] == 98, 'LOWER lowers one of them', left())
    for words, sentence in ((['COST', 'bytes', 1], 'an amount of "bytes"; its rules count tokens, images'),
                            (['COST', 'images', 1], 'no amount of tokens, which its rules count'),
                            (['COST', 'tokens', 5, 'COST', 'tokens', 5], 'two amounts of tokens'),
                            (['COST', 'tokens', 1001], '1001 tokens can never be given'),
                            (['COST', 'tokens', -1], 'COST'), (['COST', 'tokens'], 'COST')):
        said = client.refused('ACQUIRE', 'model', *words)
        report.check(sentence in said, f'refused: {words}', said)
    report.check(left()[0][1] == 98 and left()[2][1] == 50, 'which takes nothing', left())


def nested(report, here):
    """A limit within another: one decision for both, for the waiters of all connections."""
    clients = [here.client(3) for _ in range(2)]

    def left():
        return [clients[0].do('PEEK', limit)['remaining'] for limit in ('inner:a', 'outer:b')]

    clients[0].do('BLOCK', 'outer:b', '1h')
    for tag in range(5):
        clients[tag % 2].do('ACQUIRE', 'inner:a', 'WITHIN', 'b', 'TAG', tag)
    until_waiting(here, ['outer:b'], 5)
    report.check(clients[0].do('PEEK', 'inner:a')['remaining'] == 5, 'work that waits outside has taken nothing inside')
    clients[0].do('UNBLOCK', 'outer:b')
    permits = [clients[tag % 2].push() for tag in range(5)]
    report.check({permit[0] for permit in permits} == {'acquired'} and left() == [0, 5], 'it takes its slots of both',
                 (permits, left()))
    report.check(clients[0].do('TRY', 'inner:a', 'WITHIN', 'b') is None and left() == [0, 5],
                 'what the inner limit refuses takes nothing of the outer one', left())
    clients[0].do('SETTLE', permits[0][2])
    ends.until(lambda: left() == [1, 6], left)  # the answer does not wait for the store
    report.check(left() == [1, 6], 'work that did not begin gives back to both', left())
    for client in clients:
        client.close()


def steering(report, here):
    client = here.client(3)
    standing = client.do('BLOCK', 'mail:b', '1h', 'REASON', 'maintenance')
    report.check(standing['reason'] == 'maintenance' and standing['blocked_until_us'] > standing['now_us'],
                 'BLOCK answers with the standing', standing)
    report.check(client.do('TRY', 'mail:b') is None, 'nothing starts meanwhile')
    report.check(client.do('UNBLOCK', 'mail:b')['blocked_until_us'] == 0, 'UNBLOCK ends it')
    report.check(client.do('PENALIZE', 'mail:c', '1h')['blocked_until_us'] > 0, 'PENALIZE blocks')
    report.check(client.do('LOWER', 'fast', 5)['remaining'] <= 100000, 'LOWER')
    client.do('ACQUIRE', 'slow:r')
    report.check(client.do('RESET', 'slow:r')['remaining'] == 1, 'RESET')
    permit, standing = client.do('TRY', 'mail:d', 'STANDING')
    report.check(len(permit) == 4 and standing['limit_tokens'] == 1, 'TRY with STANDING has both')
    report.check(client.do('PEEK', 'mail', 'WATCH', '10s')['watched_since_us'] > 0, 'PEEK watches')
    policy = client.do('POLICY')
    report.check(policy['limits']['mail'] == '100/s' and policy['text'].startswith('limits:'), 'POLICY', policy)
    report.check(client.do('DEFINE', 'own', 'RATE', '1/h', 'BURST', 2) == 'OK', 'DEFINE brings a limit')
    report.check(client.do('TRY', 'own:k') and client.do('TRY', 'own:k') and client.do('TRY', 'own:k') is None,
                 'which paces')
    report.check(client.do('DEFINE', 'own', 'RATE', '1/h', 'BURST', 2) == 'OK' and
                 client.do('POLICY')['limits']['own'] == '1/h burst 2', 'again it is the same')
    report.check(client.do('DEFINE', 'units', 'RATE', '100/h', 'BURST', 100, 'COUNTS', 'tokens', 'DEFAULT_AMOUNT', 7) == 'OK' and
                 client.do('ACQUIRE', 'units') and client.do('PEEK', 'units')['remaining'] == 93,
                 'DEFINE has the fields of a rule')
    said = client.refused('DEFINE', 'n' * 65, 'RATE', '1/s')
    report.check(said.startswith('ERR ') and 'at most 64 bytes' in said, 'DEFINE cuts no name', said)
    flat = here.client().do('PEEK', 'mail')
    report.check(isinstance(flat, list) and len(flat) == 32 and flat[0] == 'now_us', 'in RESP2 a map is an array')
    client.close()


def defined_many(report):
    """The policies that an agent makes of definitions have a bound."""
    with agent_place() as here:
        agent = here.agent()
        client = here.client()
        for i in range(250):
            client.do('DEFINE', f'own-{i}', 'RATE', '1/h')
        said = client.refused('DEFINE', 'own-250', 'RATE', '1/h')
        report.check('takes 250 limits' in said, 'an agent takes some hundred definitions', said)
        report.check(client.do('DEFINE', 'own-0', 'RATE', '1/h') == 'OK', 'the same one again makes none')
        changes, said = 0, ''
        while not said and changes < 1000:
            changes += 1
            said = client.refused('DEFINE', 'own-0', 'RATE', f'{changes + 1}/h')
            said = '' if said == 'no error but OK' else said
        report.check('defined anew too often' in said, 'and some hundred changes of them', (changes, said))
        report.check(len(client.do('TRY', 'own-0')) == 4, 'those that are there go on')
        end(agent)


def usual_commands(report, here):
    client = here.client()
    report.check(client.do('SELECT', 0) == 'OK' and client.do('CLIENT', 'SETNAME', 'w') == 'OK' and
                 client.do('CLIENT', 'GETNAME') == 'w' and client.do('CLIENT', 'SETINFO', 'LIB-NAME', 'x') == 'OK',
                 'what clients send on connecting')
    report.check('loading:0' in client.do('INFO'), 'INFO')
    report.check(client.do('COMMAND') == [] and client.do('COMMAND', 'COUNT') > 20, 'COMMAND')
    report.check(client.do('ECHO', 'x') == 'x' and client.do('PING', 'y') == 'y', 'ECHO and PING')
    hello = client.do('HELLO', 3, 'SETNAME', 'me')
    report.check(hello['proto'] == 3 and hello['server'] == 'takt', 'HELLO', hello)
    report.check(client.do('QUIT') == 'OK' and client.ended(), 'QUIT')


def pipelines(report, here):
    client = here.client()
    client.socket.sendall(b''.join(client.words('ACQUIRE', 'fast') for _ in range(500)) + client.words('PING'))
    got = [client.answer() for _ in range(500)]
    report.check(len({permit[0] for permit in got}) == 500 and client.answer() == 'PONG', 'a pipeline is in order')
    client.socket.sendall(client.words('ACQUIRE', 'fast') * 5000 + client.words('PING'))
    got = [client.answer() for _ in range(5000)]
    report.check(len({permit[0] for permit in got}) == 5000 and client.answer() == 'PONG', 'a long one, too')
    holder = here.client()
    token = holder.do('ACQUIRE', 'single:p')[0]
    client.socket.sendall(client.words('ACQUIRE', 'single:p') * 2 + client.words('PING') + client.words('ACQUIRE', 'mail') +
                          b'?')
    until_waiting(here, ['single:p'], 2)
    report.check(True, 'the same ACQUIRE again waits together with the first one')
    holder.do('RELEASE', token)
    first = client.answer()
    holder.do('RELEASE', first[0])
    second = client.answer()
    report.check(second[1] > first[1] > 0 and client.answer() == 'PONG', 'other commands wait for all of them', second)
    report.check(len(client.answer()) == 4 and str(client.value()).startswith('ERR Protocol error') and client.ended(),
                 'and so does what is wrong behind them')
    client.close()
    client = here.client()
    client.socket.sendall(client.words('ACQUIRE', 'single:p', 'WAIT', 20) * 2)
    report.check(holder.do('RELEASE', second[0]) == 0 and len(client.answer()) == 4 and client.answer() is None,
                 'an ACQUIRE with WAIT waits when the one before it is answered')
    client.close()
    holder.close()


def turns(report, here):
    """One connection with thousands of waiters does not delay another one; and priorities go first."""
    many, one, urgent = here.client(3), here.client(3), here.client(3)
    client = here.client()
    token = client.do('ACQUIRE', 'single:t')[0]
    for i in range(2000):
        many.send('ACQUIRE', 'single:t', 'TAG', i)
    for i in range(2000):
        many.answer()
    one.do('ACQUIRE', 'single:t', 'TAG', 'x')
    one.do('ACQUIRE', 'single:t', 'TAG', 'y')
    urgent.do('ACQUIRE', 'single:t', 'TAG', 'z', 'PRIORITY', 0)
    client.do('RELEASE', token)
    order = []
    for who, name in [(urgent, 'urgent'), (many, 'many'), (one, 'one'), (many, 'many'), (one, 'one'), (many, 'many')]:
        got = who.push()
        order.append((name, got[1]))
        client.do('RELEASE', got[2])
    report.check([tag for _, tag in order] == ['z', '0', 'x', '1', 'y', '2'], 'connections take turns', order)
    for each in (many, one, urgent, client):
        each.close()


def ask_costly(connection, name, costs):
    for i, cost in enumerate(costs):
        connection.send('ACQUIRE', 'costly', 'COST', cost, 'TAG', f'{name}-{i}')
    for _ in costs:
        connection.answer()


def next_costly(client, connections, count):
    """The names of the waiters with the next permits. Each is released at once, so the next one comes."""
    order = []
    while len(order) < count:
        ready = select.select([each.socket for each in connections], [], [], DEADLINE)[0]
        got = next(each for each in connections if each.socket in ready).push()
        order.append(got[1].split('-')[0])
        client.do('RELEASE', got[2])
    return order


def turns_by_cost(report, here):
    """Turns are those of connections and their costs, however many different costs one of them asks for."""
    client, many, few = (here.client(3) for _ in range(3))
    client.do('DEFINE', 'costly', 'RATE', '1/s', 'BURST', 1000000, 'CONCURRENCY', 1)
    token = client.do('ACQUIRE', 'costly')[0]
    ask_costly(many, 'many', range(100, 400))
    ask_costly(few, 'few', [100] * 3)
    client.do('RELEASE', token)
    order = next_costly(client, [many, few], 9)
    report.check(order.count('few') == 3, '300 waiters of different costs do not delay three', order)
    many.close()
    few.close()
    token = client.do('ACQUIRE', 'costly')[0]
    large, small = here.client(3), here.client(3)
    ask_costly(large, 'large', [300] * 20)
    ask_costly(small, 'small', [100] * 40)
    client.do('RELEASE', token)
    order = next_costly(client, [large, small], 40)
    report.check(9 <= order.count('large') <= 11, 'waiters that cost three times as much have a third of the turns', order)
    large.close()
    small.close()
    token = client.do('ACQUIRE', 'costly')[0]
    both, one = here.client(3), here.client(3)
    ask_costly(both, 'both', [*range(101, 131), *[100] * 30])
    ask_costly(one, 'one', [100] * 30)
    client.do('RELEASE', token)
    order = next_costly(client, [both, one], 40)
    report.check(18 <= order.count('one') <= 22, 'nor does it help to share requests with others and have more', order)
    for each in (both, one, client):
        each.close()


def turns_of_the_gone(report, here):
    client, first, second = (here.client(3) for _ in range(3))
    token = client.do('ACQUIRE', 'costly')[0]
    ask_costly(first, 'first', [1] * 100)
    ask_costly(second, 'second', [2])
    first.close()
    client.do('RELEASE', token)
    report.check(next_costly(client, [second], 1) == ['second'], 'the turns of a connection that ends are those of others')
    second.close()
    client.close()


def weight(here, processes):
    """Whether the store's file tells a claim for so many processes, before long."""
    told = re.compile(rb';w[0-9a-f]+(?:,\d+){8}\*%d\b' % processes)
    until_s = time.monotonic() + DEADLINE
    while time.monotonic() < until_s:
        if any(told.search(file.read_bytes()) for file in pathlib.Path(here.path).glob('store/*') if file.is_file()):
            return True
    return False


def weights(report, here):
    """Claims tell for how many connections they are."""
    clients = [here.client(3) for _ in range(3)]
    clients[0].do('TRY', 'slow:w')
    for i, client in enumerate(clients):
        client.do('ACQUIRE', 'slow:w', 'TAG', 'a', 'PRIORITY', i)
        client.do('ACQUIRE', 'slow:w', 'TAG', 'b')
    report.check(weight(here, 3), 'claims are for all connections that wait')
    clients.pop().close()
    report.check(weight(here, 2), 'and no longer for one that has gone')
    clients += [here.client(3) for _ in range(98)]
    for client in clients[2:]:
        client.do('ACQUIRE', 'slow:w', 'TAG', 'c')
    report.check(weight(here, 100) and here.peek('slow:w')['waiting'] >= 100,
                 'nor for more than have a waiter in the fleet, however low the rate is')
    for client in clients:
        client.close()


def tenants(report, here):
    """The waiters of a small tenant take turns with those of a big one, and a tenant is a label elsewhere."""
    many, few = here.client(3), here.client(3)
    few.do('DEFINE', 'fairly', 'RATE', '200/s', 'FAIR', 'tenant', 'WEIGHTS', '{vip: 3}', 'DEFAULT_WEIGHT', 1)
    few.do('BLOCK', 'fairly', 60000)  # until all of them wait
    for i in range(305):  # of one connection: connections take turns by themselves
        many.send('ACQUIRE', 'fairly', 'TENANT', 'big' if i < 300 else 'small', 'TAG', i)
    for i in range(305):
        many.answer()
    few.do('UNBLOCK', 'fairly')
    slots = {int(push[1]): push[4] for push in (many.push() for _ in range(305))}
    last = max(slots[tag] for tag in range(300, 305))
    before = sum(slot < last for tag, slot in slots.items() if tag < 300)
    report.check(before <= 50, 'a small tenant is done with the slots of one lookahead', before)
    report.check(few.do('TRY', 'single:tenant', 'TENANT', 'small') is not None, 'a limit without fair ignores it')
    report.check(few.refused('ACQUIRE', 'mail', 'TENANT', 'x' * 65).startswith('ERR '), 'a name that is too long')
    report.check(few.refused('DEFINE', 'other', 'RATE', '1/s', 'FAIR', 'worker').startswith('ERR '), 'another word')
    many.close()
    few.close()


def draining(report, here, agent):
    holder, waiter, other = here.client(), here.client(), here.client(3)
    token = holder.do('ACQUIRE', 'single')[0]
    away = here.client()
    detached = away.do('ACQUIRE', 'single:detached', 'DETACH', '1h')[0]
    away.close()
    waiter.send('ACQUIRE', 'single')
    other.do('ACQUIRE', 'single', 'TAG', 't')
    until_waiting(here, ['single'], 2)
    agent.send_signal(signal.SIGTERM)
    refused = other.push()
    report.check(refused[:3] == ('refused', 't', 'CLOSING'), 'SIGTERM: waiters leave', refused)
    with contextlib.suppress(Exception):
        waiter.answer()
    report.check(holder.refused('ACQUIRE', 'mail').startswith('CLOSING '), 'nothing new begins')
    report.check(holder.do('RELEASE', token) == 1, 'what is held may be given back')
    back = here.client()
    report.check(back.refused('TRY', 'mail').startswith('CLOSING '), 'nor does anything on a new connection')
    report.check(back.refused('RELAY', 'OPEN', 1, 'default').startswith('CLOSING '), 'nor a program with the store agent:')
    report.check(back.ended(), 'which looks for the next agent')
    back = here.client()
    report.check(back.do('RELEASE', detached) == 1, 'a detached permit is released on a new connection')
    report.check(back.ended() and holder.ended(), 'then the agent ends')
    report.check(end(agent, 0) == 0, 'with 0')
    report.check(here.peek('single')['held'] == 0, 'nothing is held then')


def reloading(report, here, agent):
    client = here.client()
    here.write('takt.yaml', 'limits: [{name: fresh, rules: [{rate: 5/s}]}]')
    agent.send_signal(signal.SIGHUP)
    until(agent.stderr.fileno(), b'in use')
    report.check(len(client.do('ACQUIRE', 'fresh')) == 4, 'SIGHUP: the policy is read again, also under nohup')
    report.check(client.refused('ACQUIRE', 'mail').startswith('NOLIMIT'), 'and the old one has gone')
    client.close()


def following(report, here):
    """The policy in the store, and a change of it."""
    here.write('a.yaml', 'limits: [{name: first, rules: [{rate: 5/s}]}]')
    here.write('b.yaml', 'limits: [{name: first, rules: [{rate: 5/s}]}, {name: second, rules: [{rate: 5/s}]}]')
    here.write('takt.yaml', 'policy: store')
    here.takt('apply', '-p', 'a.yaml')
    agent = here.agent()
    client = here.client()
    report.check(len(client.do('ACQUIRE', 'first')) == 4, 'policy: store has the limits that were applied')
    report.check(client.refused('ACQUIRE', 'second').startswith('NOLIMIT'), 'and no others')
    here.takt('apply', '-p', 'b.yaml')
    until(agent.stderr.fileno(), b'second added')
    report.check(len(client.do('ACQUIRE', 'second')) == 4, 'it follows a change')
    client.close()
    report.check(end(agent) == 0, 'and ends')


def main():
    report = tap.Report()
    with agent_place() as here:
        agent = here.agent()
        for part in (permits, detaching, detached_many, tags, refusals, amounts, nested, steering, usual_commands,
                     pipelines, turns, turns_by_cost, turns_of_the_gone, weights, tenants):
            part(report, here)
        draining(report, here, agent)
        agent = here.agent(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # as nohup does
        reloading(report, here, agent)
        report.check(end(agent) == 0, 'an agent without permits ends at once')
        following(report, here)
    defined_many(report)
    report.end()


main()
