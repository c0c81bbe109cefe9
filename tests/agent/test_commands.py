#!/usr/bin/env python3
"""The commands of takt-agent: what each answers, and what is refused with which words."""

import contextlib
import signal

from agent import agent_place, end, tap, until


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
            ('ERR', ['ACQUIRE', 'mail', 'WITHIN', 'a'], 'within'),
            ('ERR', ['ACQUIRE'], 'write ACQUIRE LIMIT[:KEY] [COST'),
            ('ERR', ['BLOCK', 'mail'], 'write BLOCK LIMIT[:KEY] MS [REASON TEXT]'),
            ('ERR', ['POLICY', 'mail'], 'write POLICY'),
            ('ERR', ['RELAESE', 'x'], 'did you mean RELEASE'),
            ('ERR', ['BLOCK', 'mail', 100, 'REASON', 'two\nlines'], 'BLOCK'),
            ('ERR', ['SELECT', 1], 'SELECT 0'),
            ('ERR', ['DEFINE', 'mail', 'RATE', '5/s'], "a limit of the agent's policy: 100/s"),
            ('ERR', ['DEFINE', 'new', 'RATE', 'often'], 'rate'),
            ('ERR', ['DEFINE', 'new', 'BURST', 5], 'RATE first'),
            ('NOPROTO', ['HELLO', 4], 'HELLO 3')]:
        said = client.refused(*words)
        report.check(said.startswith(code + ' ') and sentence in said, f'{code} for {words}', said)
    report.check(client.do('PING') == 'PONG', 'after all of them the connection is as before')
    client.do('ACQUIRE', 'few')
    waiters = [here.client() for _ in range(3)]
    for waiter in waiters[:2]:
        waiter.send('ACQUIRE', 'few')
    while here.peek('few')['waiting'] < 2:
        pass
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
    flat = here.client().do('PEEK', 'mail')
    report.check(isinstance(flat, list) and len(flat) == 32 and flat[0] == 'now_us', 'in RESP2 a map is an array')
    client.close()


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
    client.close()


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


def draining(report, here, agent):
    holder, waiter, other = here.client(), here.client(), here.client(3)
    token = holder.do('ACQUIRE', 'single')[0]
    waiter.send('ACQUIRE', 'single')
    other.do('ACQUIRE', 'single', 'TAG', 't')
    while here.peek('single')['waiting'] < 1:
        pass
    agent.send_signal(signal.SIGTERM)
    refused = other.push()
    report.check(refused[:3] == ('refused', 't', 'CLOSING'), 'SIGTERM: waiters leave', refused)
    with contextlib.suppress(Exception):
        waiter.answer()
    report.check(holder.refused('ACQUIRE', 'mail').startswith('CLOSING '), 'nothing new begins')
    report.check(holder.do('RELEASE', token) == 1, 'what is held may be given back')
    report.check(holder.ended(), 'then the agent ends')
    report.check(end(agent, 0) == 0, 'with 0')
    report.check(here.peek('single')['held'] == 0, 'nothing is held then')


def reloading(report, here, agent):
    client = here.client()
    here.write('takt.yaml', 'limits: [{name: fresh, rules: [{rate: 5/s}]}]')
    agent.send_signal(signal.SIGHUP)
    until(agent.stderr.fileno(), b'in use')
    report.check(len(client.do('ACQUIRE', 'fresh')) == 4, 'SIGHUP: the policy is read again')
    report.check(client.refused('ACQUIRE', 'mail').startswith('NOLIMIT'), 'and the old one has gone')
    client.close()


def main():
    report = tap.Report()
    with agent_place() as here:
        agent = here.agent()
        for part in (permits, detaching, tags, refusals, amounts, steering, usual_commands, pipelines, turns):
            part(report, here)
        draining(report, here, agent)
        agent = here.agent()
        reloading(report, here, agent)
        report.check(end(agent) == 0, 'an agent without permits ends at once')
    report.end()


main()
