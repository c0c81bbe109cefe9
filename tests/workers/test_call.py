#!/usr/bin/env python3
"""takt-call: its requests, its use of answers, and what must never happen."""

import ipaddress
import json
import os
import re
import socket
import subprocess
import time
from email.utils import formatdate

from program import end, ends, results, tap, told, until, work_place
from redis_server import free_port
from vendor import answer_of, vendor

CANARY = 'canary-5e61b7c0-secret'
QUICK = ('--retry-first', '1ms')
HERE = ('--hosts', '127.0.0.1,::1,localhost')


def call(here, jobs, *options, hosts=HERE, **settings):
    """Makes the calls; the end, the results and the dead letters by id."""
    lines = [job if isinstance(job, str) else json.dumps({'limit': 'fast', **job}) for job in jobs]
    for name in ('jobs', 'jobs.state', 'jobs.dead'):
        if (here.path / name).exists():
            (here.path / name).unlink()
    here.write('jobs', ''.join(line + '\n' for line in lines))
    done = here.work('takt-call', '-i', 'jobs', *QUICK, *hosts, *options, **settings)
    dead = here.letters('jobs.dead') if (here.path / 'jobs.dead').exists() else []
    return done, results(done.stdout), {letter.get('id') or letter['line']: letter['why'] for letter in dead}


def sends_what_the_job_says(report, here, peer):
    done, got, _ = call(here, [
        {'id': 'get', 'url': peer.url + '/echo?a=b%20c'},
        {'id': 'post', 'url': peer.url + '/echo', 'method': 'POST', 'json': {'ü': [1, None]},
         'headers': {'X-Two': ['1', '2'], 'X-Empty': ''}, 'idempotency_key': 'key-7'},
        {'id': 'put', 'url': peer.url + '/echo', 'method': 'PUT', 'body': 'a text'},
        {'id': 'patch', 'url': peer.url + '/echo', 'method': 'PATCH', 'body': '',
         'headers': {'idempotency-key': 'own'}},
        {'id': 'delete', 'url': peer.url + '/echo', 'method': 'DELETE'},
        {'id': 'head', 'url': peer.url + '/echo', 'method': 'HEAD'}])
    said = {name: json.loads(result['body']) for name, result in got.items() if result['body']}
    by_name = {name: {n.lower(): v for n, v in one['headers']} for name, one in said.items()}
    report.check(done.returncode == 0 and len(got) == 6, 'all methods', told(done))
    report.check(said['get']['method'] == 'GET' and got['get']['status'] == 200 and got['get']['attempt'] == 1
                 and got['get']['took_s'] > 0 and got['get']['headers']['content-length'], 'a result tells it all', got)
    report.check(json.loads(said['post']['body']) == {'ü': [1, None]}
                 and by_name['post']['content-type'] == 'application/json', 'JSON is sent as JSON', said)
    report.check([v for n, v in said['post']['headers'] if n == 'X-Two'] == ['1', '2']
                 and by_name['post']['x-empty'] == '', 'headers of several values, and of none', said)
    report.check(by_name['post']['idempotency-key'] == 'key-7' and by_name['patch']['idempotency-key'] == 'own'
                 and 'idempotency-key' not in by_name['put'], 'keys of idempotency, where they are needed', said)
    report.check(said['put']['body'] == 'a text' and said['put']['method'] == 'PUT'
                 and 'content-type' not in by_name['put'], 'a text is sent as it is', said)
    done, got, _ = call(here, [{'id': 'a', 'url': peer.url + '/echo'}], '--no-body', '--result-headers',
                        'Date,Content-Length')
    report.check('body' not in got['a'] and list(got['a']['headers']) == ['content-length'], 'less, if wanted',
                 told(done))


def only_prepares(report, here, peer):
    """A dry run: nothing is sent, taken, waited for or noted."""
    jobs = [{'id': 'post', 'limit': 'slow', 'method': 'POST', 'url': peer.url + '/echo', 'json': {'a': 1}},
            {'id': 'get', 'limit': 'slow', 'url': peer.url + '/echo', 'headers': {'X-Key': '${env:CANARY}'}},
            {'id': 'abroad', 'limit': 'slow', 'url': 'http://192.0.2.1/'}]
    done, got, _ = call(here, jobs, '--dry-run', '--secret', 'env:CANARY', env={**here.environment, 'CANARY': CANARY})
    report.check(set(got) == {'post', 'get'} and got['post'].pop('would_start') < got['get']['would_start'] and
                 got['post'] == {'id': 'post', 'reply': 'dry run', 'method': 'POST', 'url': peer.url + '/echo', 'body_bytes': 7},
                 'a dry run tells what would be called, and when', told(done))
    report.check(not peer.asked and CANARY not in done.stdout + done.stderr and 'hosts' in done.stderr and
                 here.peek('slow')['remaining'] == 1 and not (here.path / 'jobs.state').exists(),
                 'calls nobody, takes nothing, and notes nothing', told(done))


def ends_by_status(report, here, peer):
    peer.reply = {'/400': answer_of(400, b'bad \xff\n thing'), '/204': answer_of(204), '/500': answer_of(500),
                  '/bytes': answer_of(200, b'\xff\x00'), '/304': answer_of(304)}
    flaky = iter([answer_of(502), answer_of(408), answer_of(425), answer_of(200, b'at last')])
    peer.reply['/flaky'] = lambda request: next(flaky)
    done, got, dead = call(here, [
        {'id': 'bad', 'url': peer.url + '/400'}, {'id': 'good', 'url': peer.url + '/204'},
        {'id': 'down', 'url': peer.url + '/500'}, {'id': 'flaky', 'url': peer.url + '/flaky'},
        {'id': 'bytes', 'url': peer.url + '/bytes'}, {'id': 'same', 'url': peer.url + '/304'},
        {'id': 'fine', 'url': peer.url + '/404', 'expect': ['200-299', 404]},
        {'id': 'nobody', 'url': 'http://127.0.0.1:1/'}], '--attempts', '4', '--outage', '0s')
    report.check(done.returncode == 1 and set(got) == {'good', 'flaky', 'bytes', 'fine'}, 'who is done', told(done))
    report.check('400' in dead['bad'] and 'bad \\xff\\x0a thing' in dead['bad'], 'other 4xx: dead, with the body', dead)
    report.check('500' in dead['down'] and 'attempt 4 of 4' in dead['down'] and len(peer.asked_for('/500')) == 4,
                 '5xx: tried again, and then dead', dead)
    report.check(got['flaky']['attempt'] == 4 and got['flaky']['body'] == 'at last', '502, 408 and 425 are tried again',
                 got)
    report.check(got['bytes']['body'] == {'base64': '/wA='}, 'what is no text is base64', got)
    report.check('304' in dead['same'] and got['fine']['status'] == 404, 'a job says what it expects', dead)
    report.check('no answer' in dead['nobody'] and 'attempt 4' in dead['nobody'], 'nobody there: tried again', dead)


def waits_for_the_vendor(report, here, peer):
    """A host that is away costs a job none of its attempts, of which it has one."""
    peer.reply = {'/there': answer_of(200)}
    port = free_port()
    away = f'http://127.0.0.1:{port}'
    here.jobs('jobs', [{'limit': 'fast', 'id': 'first', 'url': f'{away}/a'},
                       {'limit': 'fast', 'id': 'second', 'url': f'{away}/b?c'},
                       {'limit': 'fast', 'id': 'other', 'url': f'{peer.url}/there'}])
    worker = here.begin('takt-call', '-i', 'jobs', '--results', 'out', '--attempts', '1', *QUICK, *HERE)
    said = until(worker.stderr.fileno(), b' retry ')
    here.until_lines('out', 1)
    report.check(f'{away}: no answer'.encode() in said and list(results(here.read('out'))) == ['other'],
                 'a host that is away is told of, and does not hold others up for ever', said)
    worker.terminate()
    end(worker)
    worker = here.begin('takt-call', '-i', 'jobs', '--results', 'out', '--attempts', '1', *QUICK, *HERE)
    said = until(worker.stderr.fileno(), b' retry ')
    here.until_peek('fast', reason=re.search('no answer: [^"\n]*', said.decode()).group())
    with vendor(port=port) as back:
        back.reply = {'/a': answer_of(200), '/b': answer_of(200)}
        status, _, messages = end(worker)
        got = results(here.read('out'))
        report.check(status == 0 and len(got) == 3 and all(one['attempt'] == 1 for one in got.values()),
                     'it pauses its limit, and costs no attempt: when it is back the calls are made',
                     f'{said}{messages}{got}')
    done, _, dead = call(here, [{'id': 'a', 'url': 'http://127.0.0.1:1/'}], '--attempts', '1', '--outage', '1ms')
    report.check(done.returncode == 1 and 'attempt 1 of 1' in dead['a'] and ' retry ' in done.stderr,
                 'after --outage each attempt counts', told(done))


def pauses_the_fleet(report, here, peer):
    first = iter([answer_of(429, b'', [('Retry-After', '1')])])
    peer.reply = {'/429': lambda request: next(first, answer_of(200))}
    done, got, _ = call(here, [{'id': 'a', 'url': peer.url + '/429'}])
    looked = json.loads(here.takt('peek', 'fast', '--json').stdout)
    report.check(got['a']['attempt'] == 2, '429: again after a while', told(done))
    peer.reply['/503'] = answer_of(503, b'', [('Retry-After', '3600')])
    done, got, dead = call(here, [{'id': 'a', 'url': peer.url + '/503'}], '--attempts', '1')
    looked = json.loads(here.takt('peek', 'fast', '--json').stdout)
    report.check('answered 503' in dead['a'] and looked['reason'] == 'answered 503' and looked['remaining'] == 0,
                 '503 with a Retry-After: the limit is blocked for all', looked)
    here.takt('unblock', 'fast')
    peer.reply['/429'] = answer_of(429, b'', [('Date', 'Sun, 06 Nov 1994 08:49:37 GMT'),
                                             ('Retry-After', 'Sun, 06 Nov 1994 09:49:37 GMT')])
    call(here, [{'id': 'a', 'url': peer.url + '/429'}], '--attempts', '1')
    looked = json.loads(here.takt('peek', 'fast', '--json').stdout)
    report.check(looked['reason'] == 'answered 429' and 3e9 < looked['retry_after_us'] <= 3.6e9,
                 'a date counts from the answer\'s own', looked)
    for number, (value, wait) in enumerate((('Sunday, 06-Nov-94 10:49:37 GMT', 7.2e9),
                                            ('Sun Nov  6 11:49:37 1994', 10.8e9))):
        peer.reply['/503'] = answer_of(503, b'', [('Date', 'Sun, 06 Nov 1994 08:49:37 GMT'), ('Retry-After', value)])
        call(here, [{'id': 'a', 'url': peer.url + '/503', 'key': f'old{number}'}], '--attempts', '1')
        looked = json.loads(here.takt('peek', f'fast:old{number}', '--json').stdout)
        report.check(wait - 1e9 < looked['retry_after_us'] <= wait, f'also in an older form: {value}', looked)
    for number, (value, least, most) in enumerate(((formatdate(time.time() + 3600, usegmt=True), 3.5e9, 3.6e9),
                                                   ('Fri, 31 Dec 9999 23:59:59 GMT', 8.63e10, 8.64e10),
                                                   ('9' * 30, 8.63e10, 8.64e10))):
        peer.reply['/503'] = answer_of(503, b'', [('Retry-After', value)])
        call(here, [{'id': 'a', 'url': peer.url + '/503', 'key': str(number)}], '--attempts', '1')
        looked = json.loads(here.takt('peek', f'fast:{number}', '--json').stdout)
        report.check(least < looked['retry_after_us'] <= most, f'from now, where there is no Date: {value}', looked)
    here.takt('unblock', 'fast')


def settles(report, here, peer):
    """The answer states the cost. If it has none, the job costs what it stated itself."""
    here.write('takt.yaml', here.read('takt.yaml') + """  - name: metered
    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use}]
  - name: unit
    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use, counts: tokens, default_amount: 200}]
  - name: inner
    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use, counts: words}]
    within: unit
  - name: four
    concurrency: 4
""")

    def event(data):
        return f'data: {json.dumps(data)}\n\n'

    stream = ''.join(event({'usage': usage}) for usage in ({'total': 1}, {'total': 70}, None)) + 'data: [DONE]\n\n'
    peer.reply = {'/18': answer_of(200, b'{"usage": {"total": 18}}'), '/none': answer_of(200, b'{"usage": null}'),
                  '/text': answer_of(200, b'some text'), '/word': answer_of(200, b'{"usage": {"total": "18"}}'),
                  '/half': answer_of(200, b'{"usage": {"total": 1.5}}'), '/400': answer_of(400, b'{"error": "no"}'),
                  '/paid': answer_of(400, b'{"usage": {"total": 2}}'),
                  '/events': answer_of(200, stream.encode(), [('Content-Type', 'text/event-stream; charset=utf-8')])}

    def costs(cost, names, *options, **fields):
        here.takt('reset', 'metered')
        done, got, dead = call(here, [{'id': name, 'limit': 'metered', 'cost': 100, 'url': f'{peer.url}/{name}',
                                       **fields} for name in names], *options)
        here.until_peek('metered', remaining=1000 - cost)
        return done, got, dead

    field = {'settle': '/usage/total'}
    done, got, _ = costs(18, ['18'], **field)
    report.check('18' in got and 'not settled' not in done.stderr, 'a job costs what its answer says', told(done))
    done, got, _ = costs(70, ['events'], **field)
    report.check(got['events']['body'] == stream, 'or what the last event says that has it', told(done))
    done, _, _ = costs(18, ['18'], '--settle', '/usage/total')
    report.check('not settled' not in done.stderr, '--settle says so for all jobs', told(done))
    costs(18, ['18'], '--settle', '/no', **field)
    done, got, _ = costs(218, ['none', '18', 'text'], **field)
    report.check(len(got) == 3 and done.stderr.count('not settled') == 1 and 'its estimated cost counts' in done.stderr,
                 'an answer without it settles nothing, which is said once', told(done))
    done, got, _ = costs(300, ['word', 'half', 'none'], **field)
    report.check(len(got) == 3 and done.stderr.count('not settled') == 2 and 'the answer has no ' in done.stderr
                 and 'it must be a whole number from 0 to 1000000000' in done.stderr,
                 'nor does one with something else', told(done))
    done, _, dead = costs(100, ['400'], **field)
    report.check('400' in dead['400'] and 'not settled' not in done.stderr, 'a refusal need not have it', told(done))
    costs(2, ['paid'], **field)
    done, got, dead = call(here, [
        {'id': 'stated', 'limit': 'unit', 'key': 'a', 'cost': {'tokens': 100}, 'url': f'{peer.url}/18', **field},
        {'id': 'default', 'limit': 'unit', 'key': 'b', 'url': f'{peer.url}/18'},
        {'id': 'free', 'limit': 'four', 'url': f'{peer.url}/18'},
        {'id': 'two', 'limit': 'inner', 'cost': {'tokens': 3, 'words': 5}, 'url': f'{peer.url}/18', **field},
        {'id': 'both', 'limit': 'inner', 'cost': {'tokens': 3, 'words': 5}, 'url': f'{peer.url}/18'}],
        '--settle', '/usage/total')
    here.until_peek('unit:a', remaining=982)
    report.check(set(got) == {'stated', 'default', 'free', 'both'} and here.peek('unit:b')['remaining'] == 800
                 and done.stderr.count('not settled') == 1 and 'job default: not settled' in done.stderr
                 and 'state an amount of it in the job' in done.stderr, 'it is an amount of the unit that the job states',
                 told(done))
    report.check('leave settle out' in dead['two'] and here.peek('inner')['remaining'] == 995
                 and here.peek('unit')['remaining'] == 997, 'of one unit', f'{told(done)}{here.peek("inner")}')


def settles_units(report, here, peer):
    """
    Several places, one for each unit: of the job, or of its limit. What an answer states is settled, the rest stays.
    A vendor's own places are those of its answers, also as events.
    """
    limits = """limits:
  - name: in
    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use, counts: input_tokens}]
    within: out
  - name: out
    rules: [{rate: 1000/h, algorithm: fixed-window, align: first-use, counts: output_tokens, default_amount: 100}]
"""
    given = {'': None, 'settle: {input_tokens: /usage/in, output_tokens: /usage/out}': None, 'settle: openai': None,
             'settle: anthropic': None}
    for number, line in enumerate(given):
        here.write(f'{number}.yaml', limits.replace('    within: out\n', f'    within: out\n    {line}\n'))
        given[line] = f'{number}.yaml'
    none, both, openai, anthropic = given.values()

    def event(data):
        return f'event: x\ndata: {json.dumps(data)}\n\n'

    stream = event({'type': 'message_start', 'message': {'usage': {'input_tokens': 300, 'output_tokens': 1}}}) + event(
        {'type': 'message_delta', 'usage': {'output_tokens': 15}}) + event({'type': 'message_stop'})
    chat = {'usage': {'prompt_tokens': 300, 'completion_tokens': 15, 'total_tokens': 315}}
    end = event({'type': 'response.completed', 'response': {'usage': {'input_tokens': 300, 'output_tokens': 15}}})
    kind = [('Content-Type', 'text/event-stream')]
    peer.reply = {'/both': answer_of(200, b'{"usage": {"in": 300, "out": 15}}'),
                  '/half': answer_of(200, b'{"usage": {"out": 15}}'),
                  '/text': answer_of(200, b'{"usage": {"in": "300", "out": 15}}'),
                  '/chat': answer_of(200, json.dumps(chat).encode()), '/response': answer_of(200, end.encode(), kind),
                  '/message': answer_of(200, stream.encode(), kind)}

    def costs(policy, path, left, **fields):
        here.takt('reset', 'in')
        here.takt('reset', 'out')
        done, got, _ = call(here, [{'id': 'a', 'limit': 'in', 'cost': {'input_tokens': 200}, 'url': peer.url + path,
                                    **fields}, {'id': 'b', 'limit': 'in', 'cost': {'input_tokens': 200},
                                                'url': peer.url + path, **fields}], '-p', policy)
        here.until_peek('out', remaining=left[1])
        standing = (here.peek('in')['remaining'], here.peek('out')['remaining'])
        report.check(set(got) == {'a', 'b'} and standing == left, f'settled by units: {policy}, {path}, {fields}',
                     f'{standing}{told(done)}')
        return done.stderr

    field = {'settle': {'input_tokens': '/usage/in', 'output_tokens': '/usage/out'}}
    here.write('takt.yaml', here.read(none))
    said = [costs(none, '/both', (400, 970), **field), costs(both, '/both', (400, 970)),
            costs(openai, '/chat', (400, 970)), costs(openai, '/response', (400, 970)),
            costs(anthropic, '/message', (400, 970)),
            costs(both, '/both', (600, 970), settle={'output_tokens': '/usage/out'})]
    report.check(not any('not settled' in one for one in said), 'all of it', said)
    said = costs(both, '/half', (600, 970))
    report.check(said.count('not settled') == 1 and 'input_tokens: not settled' in said and 'has no' in said,
                 'what the answer does not state stays, which is said once', said)
    said = costs(both, '/text', (600, 970))
    report.check(said.count('not settled') == 1 and 'is the string' in said
                 and 'a whole number from 0 to 1000000000, so let settle point at one' in said, 'a string is none', said)
    said = costs(none, '/both', (600, 800), settle={'input_tokens': '/usage/in', 'words': '/usage/in'})
    report.check(said.count('not settled') == 1 and 'do not count input_tokens, or another unit of its settle' in said,
                 'a unit that no level counts settles nothing', said)


def refuses_wrong_amounts(report, here, peer):
    """What a job states of units wrongly makes it a dead letter that says what to write; nothing is taken for it."""
    here.write('takt.yaml', here.read('takt.yaml') + """  - name: model
    rules:
      - {rate: 9/h, burst: 9, counts: requests}
      - {rate: 2000/h, burst: 2000, counts: tokens}
      - {rate: 40/h, burst: 40, counts: images}
  - {name: plain, rules: [{rate: 9/h, burst: 9}]}
""")
    both = {'tokens': 5, 'images': 1}
    rows = [
        ({}, 'no amount of tokens, which its rules count; state it, or give the rule a default_amount'),
        ({'cost': {'tokens': 5}}, 'no amount of images, which its rules count; state it'),
        ({'cost': {**both, 'bytes': 1}}, 'an amount of "bytes"; its rules count tokens, images'),
        ({'cost': {**both, 'requests': 1}}, 'leave it out: each acquire is one request'),
        ({'cost': {**both, 'tokens': -5}}, 'a whole number from 1 to 1000000'),
        ({'cost': {**both, 'tokens': '5'}}, 'a whole number from 1 to 1000000, without quotes'),
        ({'cost': {**both, 'tokens': 2001}}, '2001 tokens can never be given: rules[1] (2000/h tokens'),
        ({'cost': {**both, 'images': 41}}, '41 images can never be given: rules[2] (40/h images'),
        ({'cost': 3}, 'state the amount of tokens instead'),
        ({'limit': 'plain', 'cost': {'tokens': 5}}, 'its rules name no unit; state a cost without a unit'),
        ({'cost': both, 'settle': 'usage'}, 'settle: must be a JSON pointer; begin it with a slash'),
        ({'cost': both, 'settle': '/usage'}, 'settle: it states one amount, and cost has several; write {"UNIT": "POINTER"}'),
        ({'cost': both, 'settle': {'tokens': 7}}, 'settle.tokens: write a JSON pointer, like "/usage/total_tokens"'),
    ]
    _, got, dead = call(here, [{'id': str(i), 'limit': 'model', 'url': peer.url + '/', **job}
                               for i, (job, _) in enumerate(rows)])
    for i, (job, words) in enumerate(rows):
        report.check(words in dead.get(str(i), ''), f'refused: {json.dumps(job)}', (dead.get(str(i)), got.get(str(i))))
    left = [here.peek(limit)['rules'] for limit in ('model', 'plain')]
    report.check(not peer.asked and all(rule['remaining'] == rule['limit'] for rules in left for rule in rules),
                 'nothing is taken for them', left)


def waits_for_http(report, here, peer):
    """An answer that is none of HTTP may be that of a broken proxy: it is tried again."""
    answers = iter([b'\x00\xff no HTTP\r\n\r\n'])
    peer.reply = {'/odd': lambda request: next(answers, answer_of(200))}
    done, got, _ = call(here, [{'id': 'a', 'url': peer.url + '/odd'}])
    report.check(got.get('a', {}).get('attempt') == 2 and 'the answer is not HTTP' in done.stderr,
                 'what is not HTTP is no answer', told(done))


def takes_null_for_nothing(report, here, peer):
    fields = ('method', 'headers', 'body', 'json', 'timeout', 'expect', 'settle')
    done, got, _ = call(here, [{'id': 'a', 'url': peer.url + '/echo', **dict.fromkeys(fields)},
                               {'id': 'b', 'url': peer.url + '/echo', 'method': 'POST', 'body': None, 'json': [None]}])
    said = {name: json.loads(result['body']) for name, result in got.items()}
    report.check(said and said['a']['method'] == 'GET' and said['a']['body'] == '' and said['b']['body'] == '[null]',
                 'null is as good as leaving a field out', told(done))


def tells_strange_headers(report, here, peer):
    peer.reply = {'/odd': b'HTTP/1.1 200 OK\r\nX-\xff\xfe: v\r\n: v\r\nX-V: \xff\r\nContent-Length: 2\r\n\r\nok'}
    done = here.work('takt-call', '-i', here.jobs('jobs', [{'id': 'a', 'limit': 'fast', 'url': peer.url + '/odd'}]),
                     *HERE)
    try:
        got = results(done.stdout)['a']['headers']
    except ValueError:
        got = done.stdout
    report.check(got == {'x-v': 'ÿ', 'content-length': '2'}, 'what is no name of a header is left out', told(done))


def follows_redirects(report, here, peer, other):
    def to(url, status=302):
        return answer_of(status, b'', [('Location', url)])

    secrets = {'Authorization': 'Bearer ${env:CANARY}', 'X-Key': 'x', 'Accept': 'text/plain',
               'User-Agent': '${env:CANARY}'}
    peer.reply = {'/home': to('/echo'), '/kept': to('/echo', 307), '/away': to(other.url + '/echo'),
                  '/round': to('/round'),
                  '/scheme': to('ftp://127.0.0.1/'), '/see': to('/echo', 303),
                  '/login': to(f'http://a:b@127.0.0.1:{peer.port}/echo')}
    jobs = [{'id': 'home', 'url': peer.url + '/home', 'method': 'POST', 'body': 'text', 'headers': secrets},
            {'id': 'kept', 'url': peer.url + '/kept', 'method': 'POST', 'body': 'text'},
            {'id': 'see', 'url': peer.url + '/see', 'method': 'PUT', 'body': 'text'},
            {'id': 'away', 'url': peer.url + '/away', 'headers': secrets},
            {'id': 'round', 'url': peer.url + '/round'}, {'id': 'scheme', 'url': peer.url + '/scheme'},
            {'id': 'login', 'url': peer.url + '/login'}]
    allow = ('--secret', 'env:CANARY')
    done, got, dead = call(here, jobs, '--attempts', '2', *allow)
    said = {name: json.loads(result['body']) for name, result in got.items()}
    report.check(said['home']['method'] == 'GET' and said['home']['body'] == ''
                 and ['Authorization', 'Bearer ' + '*' * len(CANARY)] in said['home']['headers'],
                 'on the same host, with all headers', told(done))
    report.check((said['kept']['method'], said['kept']['body']) == ('POST', 'text') and said['see']['method'] == 'GET',
                 '307 keeps what is sent, 303 does not', said)
    report.check('another host' in dead['away'] and not other.asked, 'to another host: not followed', dead)
    report.check('too many redirects' in dead['round'] and len(peer.asked_for('/round')) == 6, 'in a circle: not for ever',
                 dead)
    report.check('neither http' in dead['scheme'] and 'a user or a password' in dead['login']
                 and len(peer.asked_for('/login')) == 1, 'other schemes and logins: not followed', dead)
    done, got, dead = call(here, jobs[3:4], '--redirects', 'any', *allow)
    names = [name.lower() for name, _ in json.loads(got['away']['body'])['headers']]
    report.check('accept' in names and not {'authorization', 'x-key'} & set(names) and CANARY not in str(other.asked),
                 'anywhere, if wanted, but without keys', told(done))
    done, got, dead = call(here, jobs[:1], '--redirects', 'none', *allow)
    report.check('--redirects' in dead['home'], 'nowhere, if wanted', dead)


def bounds_answers(report, here, peer):
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' + b'400\r\n' + b'x' * 1024 + b'\r\n'
    peer.reply = {'/fits': answer_of(200, b'x' * 1024), '/big': answer_of(200, b'x' * 1025),
                  '/endless': chunked + chunked[47:] * 9,
                  '/heads': answer_of(200, b'', [(f'X-{n}', 'y' * 1000) for n in range(80)]),
                  '/line': answer_of(200, b'', [('X-Long', 'y' * 200_000)]),
                  '/status': b'HTTP/1.1 200 ' + b'y' * 200_000 + b'\r\nContent-Length: 0\r\n\r\n',
                  '/busy': answer_of(503, b'', [('X-Long', 'y' * 200_000)]),
                  '/silent': lambda request: None,
                  '/bad': answer_of(400, b'x' * 5000)}
    done, got, dead = call(here, [{'id': name, 'url': f'{peer.url}/{name}',
                                   'timeout': '200ms' if name == 'silent' else '20s'}
                                  for name in ('fits', 'big', 'endless', 'heads', 'line', 'status', 'busy', 'silent',
                                               'bad')],
                           '--response-max', '1KiB', '--attempts', '2')
    report.check(set(got) == {'fits'} and len(got['fits']['body']) == 1024, 'an answer that fits', told(done))
    report.check(all('more than 1024' in dead[name] for name in ('big', 'endless', 'heads')), 'others are dead', dead)
    report.check(all('of headers' in dead[name] and len(peer.asked_for(f'/{name}')) == 1 for name in ('line', 'status'))
                 and 'answered 503' in dead['busy'] and len(peer.asked_for('/busy')) == 2,
                 'also a header of one line, at once; with a bad status as that says', told(done))
    report.check('Timeout' in dead['silent'] and 'attempt 2 of 2' in dead['silent'], 'no answer in time: tried again',
                 dead)
    report.check('answered 400' in dead['bad'], 'a bad status is told, whatever comes with it', dead)


def keeps_secrets(report, here, peer):
    here.environment['CANARY'] = CANARY
    secret = here.write('secret', CANARY + '-file\n')
    here.write('fold', 'two\nlines')
    peer.reply = {'/told': lambda request: answer_of(400, str(request.headers).encode()),
                  '/back': lambda request: answer_of(200, b'\xff' + str(request.headers).encode(),
                                                     [('X-Back', request.header('authorization')[0])] * 2)}
    names = {'Authorization': 'Bearer ${env:CANARY}', 'X-File': '${file:' + secret + '}/${env:CANARY}'}
    jobs = [{'id': path, 'url': f'{peer.url}/{path}', 'headers': names} for path in ('echo', 'told', 'back', 'down')]
    jobs += [{'id': 'none', 'url': peer.url + '/echo', 'headers': {'A': '${env:TAKT_SECRET_NO_SUCH}'}},
             {'id': 'fold', 'url': peer.url + '/echo', 'headers': {'A': '${file:fold}'}},
             {'id': 'dir', 'url': peer.url + '/echo', 'headers': {'A': '${file:/}'}},
             {'id': 'form', 'url': peer.url + '/echo', 'headers': {'A': '${CANARY}'}},
             {'id': 'url', 'url': peer.url + '/${env:CANARY}'}]
    here.environment.update(SHORT=CANARY[:10], QUOTED='a"b\\c/' + CANARY)
    allowed = [word for name in ('env:CANARY', 'env:SHORT', 'env:QUOTED', f'file:{secret}', 'file:fold',
                                 'file:/') for word in ('--secret', name)]
    for log in ('text', 'json'):
        done, got, dead = call(here, jobs, '--log', log, '--attempts', '2', *allowed)
        asked = peer.asked_for('/echo')[-1]
        report.check(asked.header('authorization') == ['Bearer ' + CANARY]
                     and asked.header('x-file') == [CANARY + '-file/' + CANARY], 'secrets are sent', told(done))
        kept = ''.join(file.read_text(errors='replace') for file in here.path.iterdir() if file.is_file()
                       and file.name != 'secret')
        report.check(CANARY not in kept + done.stdout + done.stderr and 'echo' in got and 'told' in dead
                     and 'back' in got,
                     f'and not seen in results, dead letters, state or log ({log})', told(done))
    report.check('TAKT_SECRET_NO_SUCH is not set; set it' in dead['none'] and 'control' in dead['fold'] and 'regular' in dead['dir'],
                 'a secret that cannot be had', dead)
    report.check('write ${env:NAME}' in dead['form'] and 'in headers only' in dead['url'], 'or is not one', dead)
    peer.reply['/both'] = lambda request: answer_of(200, (request.header('a') + request.header('b'))[0].encode())
    done, got, dead = call(here, [
        {'id': 'both', 'url': peer.url + '/both', 'headers': {'A': '${env:CANARY}', 'B': '${env:SHORT}'}},
        {'id': 'json', 'url': peer.url + '/echo', 'headers': {'A': '${env:QUOTED}'}}], *allowed)
    report.check(got['both']['body'] == '*' * len(CANARY), 'of two secrets, one the beginning of the other', told(done))
    report.check(['A', '*' * (len(CANARY) + 8)] in json.loads(got['json']['body'])['headers'],
                 'and with the backslashes of JSON', told(done))


def sends_secrets_to_their_hosts(report, here, peer):
    here.environment.update(CANARY=CANARY, TAKT_SECRET_KEY=CANARY, TAKT_REDIS_PASSWORD=CANARY)
    here.write('a@b', CANARY)

    def one(name, *options, url=peer.url, **others):
        peer.asked.clear()
        done, got, dead = call(here, [{'id': 'a', 'url': url + '/echo', 'headers': {'A': '${' + name + '}'}}],
                               *options, **others)
        report.check(bool(got) == (CANARY in str([request.headers for request in peer.asked])),
                     'what is done has sent its secret', told(done))
        return dead.get('a', 'sent')

    here_alone = f'@127.0.0.1:{peer.port}'
    for name, options, says in (
            ('env:CANARY', (), 'is not allowed for 127.0.0.1; start takt-call with --secret env:CANARY@127.0.0.1'),
            ('env:TAKT_REDIS_PASSWORD', (), 'the secret env:TAKT_REDIS_PASSWORD is not allowed'),
            ('env:CANARY', ('--secret', 'env:PATH'), 'is not allowed'),
            ('env:CANARY', ('--secret', 'env:CANARY'), 'sent'),
            ('env:CANARY', ('--secret', 'env:CANARY' + here_alone), 'sent'),
            ('env:CANARY', ('--secret', 'env:CANARY@api.example.com,127.0.0.1'), 'sent'),
            ('env:CANARY', ('--secret', 'env:CANARY@a.org', '--secret', 'env:CANARY@127.0.0.1'), 'sent'),
            ('env:CANARY', ('--secret', 'env:CANARY@127.0.0.1:1'), 'may not be sent to 127.0.0.1; start takt-call'),
            ('env:CANARY', ('--secret', 'env:CANARY@*.example.com'), 'may not be sent to 127.0.0.1'),
            ('file:a@b', ('--secret', 'file:a@b@127.0.0.1'), 'sent'),
            ('file:a', ('--secret', 'file:a@b@127.0.0.1'), 'is not allowed'),
            ('env:TAKT_SECRET_KEY', (), 'sent'),
            ('env:TAKT_SECRET_KEY', ('--secret', 'env:TAKT_SECRET_KEY@api.example.com'), 'may not be sent to')):
        said = one(name, *options)
        report.check(says in said, f'{name} with {" ".join(options) or "no --secret"}: {says}', said)
    for name, option in (('CANARY', ('--secret', 'env:CANARY')), ('TAKT_SECRET_KEY', ())):
        said = one(f'env:{name}', *option, url='https://192.0.2.1', hosts=())
        report.check(f'env:{name} may not be sent to 192.0.2.1' in said, f'{name}: no host without a list', said)
        said = one(f'env:{name}', *option, url='https://192.0.2.1', hosts=('--hosts', '*,api.example.com'))
        report.check('may not be sent to 192.0.2.1' in said, f'{name}: nor one by "*"', said)


PRIVATE = ('127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '%31%32%37.0.0.1', '[::1]', 'localhost',
           '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '0.0.0.0', '10.0.0.1', '169.254.169.254', 'a.localhost.',
           '[fe80::1%25eth0]', '100.64.0.1')


def private_name():
    """A name that is resolved without a network, to addresses that are not public; by some libcurls a number."""
    for name in ('ip6-localhost', 'ip6-loopback', socket.gethostname()):
        try:
            found = socket.getaddrinfo(name, 80, proto=socket.IPPROTO_TCP)
        except OSError:
            continue
        if name != 'localhost' and all(not ipaddress.ip_address(at[4][0]).is_global for at in found):
            return name
    return '%30x7f.1'


def calls_allowed_hosts(report, here, peer, other):
    jobs = [{'id': name, 'url': f'http://{name}:{peer.port}/echo'} for name in PRIVATE]
    done, got, dead = call(here, jobs, hosts=())
    report.check(done.returncode == 1 and not got and not peer.asked
                 and all('is a private address; add it to --hosts' in dead.get(name, '') for name in PRIVATE),
                 'addresses that are not public are dead before anything is sent', told(done))
    name = private_name()
    for hosts in ((), ('--hosts', '*,api.example.com')):
        done, got, dead = call(here, [{'id': 'a', 'url': f'http://{name}:{peer.port}/echo'}], hosts=hosts)
        report.check(not got and not peer.asked and 'private address; add it to --hosts' in dead.get('a', '')
                     and ' retry ' not in done.stderr, f'and so is {name}, at once, which is resolved to one',
                     told(done))
    report.check(here.peek('fast')['reason'] is None, 'its limit is not blocked', here.peek('fast'))
    done, got, dead = call(here, [{'id': 'a', 'url': f'http://{name}:{peer.port}/echo'}], '--attempts', '1',
                           '--outage', '0s', hosts=('--hosts', name))
    report.check('private' not in dead.get('a', ''), 'a listed name may have any address', told(done))
    with_proxy = {**here.environment, 'http_proxy': peer.url}
    peer.reply = {f'http://{name}:1/a': answer_of(204)}
    done, got, dead = call(here, [{'id': 'a', 'url': f'http://{name}:1/a'}], hosts=(), env=with_proxy)
    report.check('a' in got, 'a proxy resolves names, and may be private itself', told(done))
    peer.asked.clear()
    for hosts, there in ((f'127.0.0.1:{peer.port}', True), ('*,127.0.0.1', True), ('127.0.0.1:1', False),
                         ('api.example.com', False), ('*', False)):
        done, got, dead = call(here, [{'id': 'a', 'url': peer.url + '/echo'}], hosts=('--hosts', hosts))
        report.check(('a' in got) == there and ('--hosts' in dead.get('a', '')) == (not there), f'--hosts {hosts}',
                     told(done))
    done, got, dead = call(here, [{'id': 'a', 'url': 'https://api.example.org/'}], hosts=('--hosts', '*.example.com'))
    report.check('--hosts does not list api.example.org; add it' in dead['a'], 'others are refused', dead)
    peer.reply = {'/away': answer_of(302, b'', [('Location', other.url + '/echo')]),
                  '/off': answer_of(302, b'', [('Location', 'https://api.example.org/')])}
    done, got, dead = call(here, [{'id': name, 'url': f'{peer.url}/{name}'} for name in ('away', 'off')],
                           '--redirects', 'any', hosts=('--hosts', f'127.0.0.1:{peer.port}'))
    report.check('a redirect to a private address' in dead['away'] and not other.asked
                 and 'a redirect to a host that --hosts does not list' in dead['off'], 'also behind a redirect', dead)


def cannot_be_broken_out_of(report, here, peer):
    peer.asked.clear()
    wrong = [{'headers': {'A': 'b\r\nX-Evil: 1'}}, {'headers': {'A': 'b\nX'}}, {'headers': {'A\r\nX-Evil': '1'}},
             {'headers': {'A: b': '1'}}, {'headers': {'': '1'}}, {'headers': {'A': ['b', 'c\x1fd']}},
             {'headers': {'A': 1}},
             {'headers': {'Host': 'other'}}, {'headers': {'Content-Length': '1'}},
             {'headers': {'Transfer-Encoding': 'chunked'}},
             {'headers': []}, {'url': peer.url + '/a\r\nX-Evil: 1'}, {'url': peer.url + '/a b'},
             {'url': peer.url + '/\x7f'},
             {'url': 'file:///etc/passwd'}, {'url': 'gopher://127.0.0.1/'}, {'url': 'http://user:pass@127.0.0.1/'},
             {'url': 'http:///x'}, {'url': 'https:/x'}, {'url': 'http:x'},
             {'url': 'http:///127.0.0.1/'}, {'url': 'http:///user:pass@127.0.0.1/'},
             {'url': peer.url + ':1/'}, {'url': peer.url + '@127.0.0.1/'},
             {'headers': [], 'url': 'http://[::1]/'}, {'url': 'http://[::1/'},
             {'url': 'nonsense'}, {'url': ''}, {'url': None}, {'method': 'CONNECT'}, {'method': 'GET\r\nX: y'},
             {'method': 'get'},
             {'body': 1}, {'body': 'a', 'json': 1}, {'timeout': 30}, {'timeout': '0s'}, {'timeout': '2h'},
             {'expect': []},
             {'expect': 'all'}, {'expect': [99]}, {'expect': ['300-200']},
             {'settle': 'usage'}, {'settle': '/~'}, {'settle': 7}, {'settle': {}},
             {'settle': {'tokens': 7}}, {'settle': {'tokens': 'usage'}}, {'settle': {'Tokens': '/usage'}},
             {'settle': {'requests': '/usage'}}, {'settle': {unit: '/usage' for unit in 'abcde'}}]
    done, got, dead = call(here, [{'id': f'w{n}', 'url': peer.url + '/echo', **one} for n, one in enumerate(wrong)]
                           + ['{"id": "nul", "limit": "fast", "url": "http://127.0.0.1/\\u0000"}',
                              {'id': 'last', 'url': peer.url + '/echo'}])
    report.check(set(got) == {'last'} and len(peer.asked) == 1, f'{len(wrong)} jobs that are wrong are not called',
                 told(done))
    report.check(len(dead) == len(wrong) + 1, 'and are dead', dead)
    for n, one in enumerate(wrong):
        field = [name for name in one if name != 'id'][0]
        report.check(dead.get(f'w{n}', '').startswith(field), f'for their {json.dumps(one)}', dead.get(f'w{n}'))


def gives_up_at_the_end(report, here, peer):
    """A call that never ends does not hold up the end, and comes again."""
    peer.reply = {'/silent': lambda request: None}
    here.jobs('jobs', [{'id': 'a', 'limit': 'fast', 'url': peer.url + '/silent'}])
    worker = here.begin('takt-call', '-i', 'jobs', '--drain', '1ms', *HERE)
    ends.until(lambda: peer.asked, 'the peer is never asked')
    worker.terminate()
    status, output, messages = end(worker)
    report.check((status, output) == (1, ''), 'what does not end in time is given up', messages)
    peer.reply = {'/silent': answer_of(204)}
    done = here.work('takt-call', '-i', 'jobs', *HERE)
    report.check(results(done.stdout)['a']['attempt'] == 2, 'and comes again', told(done))


def verifies(report, here):
    """By a real server of OpenSSL's."""
    for name in ('good', 'other'):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                        '-days', '2',
                        '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', f'{name}.key',
                        '-out',
                        f'{name}.pem'], cwd=here.path, check=True, capture_output=True)
    with subprocess.Popen(['openssl', 's_server', '-accept', '127.0.0.1:0', '-key', 'good.key', '-cert', 'good.pem',
                           '-www'],
                          cwd=here.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            line = ends.line(server, 'ACCEPT')
            url = 'https://localhost:' + line.strip().rsplit(':', 1)[1] + '/'
            tried = {name: call(here, [{'id': 'a', 'url': url}], '--attempts', '1', '--ca', f'{name}.pem')
                    for name in ('good', 'other')}
            wrong = call(here, [{'id': 'a', 'url': url.replace('localhost', '127.0.0.1')}], '--attempts', '1', '--ca',
                         'good.pem')
        finally:
            server.kill()
    report.check('a' in tried['good'][1], 'TLS, with a certificate that is trusted', told(tried['good'][0]))
    report.check('no answer: SSL' in tried['other'][2].get('a', ''), 'not with another one', told(tried['other'][0]))
    report.check('no answer: SSL' in wrong[2].get('a', ''), 'nor for another name', told(wrong[0]))


def refuses_wrong_options(report, here):
    for line in (['--timeout', '0s'], ['--redirects', 'some'], ['--response-max', '0'], ['--response-max', '2GiB'],
                 ['--ca', 'none'],
                 ['--secret', 'CANARY'], ['--secret', 'env:@a.org'], ['--secret', 'env:A@'], ['--secret', 'env:A@*'],
                 ['--secret', 'env:NO_SUCH'], ['--secret', 'env:NO_SUCH@a.org'],
                 ['--settle', 'usage.total'], ['--settle', '/~2'], ['--hosts', ''], ['--hosts', 'https://a.org']):
        done = here.work('takt-call', *line)
        report.check(done.returncode == 64 and line[0] in done.stderr, f'{" ".join(line)}: 64', told(done))


def main():
    report = tap.Report()
    for name in list(os.environ):
        if name.lower().endswith('_proxy'):
            del os.environ[name]
    with vendor() as peer, vendor() as other:
        for case in (sends_what_the_job_says, only_prepares, ends_by_status, waits_for_the_vendor, pauses_the_fleet,
                     settles, settles_units, refuses_wrong_amounts, waits_for_http, bounds_answers, keeps_secrets, takes_null_for_nothing,
                     tells_strange_headers, cannot_be_broken_out_of, gives_up_at_the_end):
            with work_place() as here:
                case(report, here, peer)
                peer.asked.clear()
        with work_place() as here:
            sends_secrets_to_their_hosts(report, here, peer)
            peer.asked.clear()
        with work_place() as here:
            calls_allowed_hosts(report, here, peer, other)
            peer.asked.clear()
        with work_place() as here:
            here.environment['CANARY'] = CANARY
            follows_redirects(report, here, peer, other)
    for case in (verifies, refuses_wrong_options):
        with work_place() as here:
            case(report, here)
    report.end()


if __name__ == '__main__':
    main()
