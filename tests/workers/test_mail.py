#!/usr/bin/env python3
"""takt-mail against a real mail server (mail_server.py): what arrives there, and what becomes of the jobs."""

import collections
import datetime
import email
import email.policy
import json
import sys

from mail_place import CANARY, USER, arrived, mail, mails_of, policy, serve, text_of
from program import end, ends, results, tap, told, until, work_place

from certificates import Authority

UMLAUTS = 'Grüße an Jürgen, mit €-Zeichen und einem Betreff, der viel zu lang ist für eine einzige Zeile: 日本語 ✓'


HALF_AN_HOUR = datetime.timedelta(minutes=30)


def sends_what_the_job_says(report, here, server):
    job = mail('m/1', 'Jürgen "J" Müller'.join(['"', '" <J.M@Example.ORG>']).replace('"J"', '\\"J\\"'),
               cc=['b@example.org', 'Last\'s <c@example.org>'], bcc='d@example.org', reply_to='r@example.org',
               return_path='bounces@example.org', subject='{title}', title=UMLAUTS,
               text='Hallo {who.name}!\nFrom hier\n.\n..punkt\n \n\tTab und Blank \nÄ = {total}\n' + 'lang ' * 300,
               html='<p class="a">{who.name} &amp; {{</p>\n' + 'Ω' * 500, who={'name': '<b>Zoë & Co</b>'}, total=19.9,
               headers={'X-Campaign': 'Frühling {total}'}, list_unsubscribe='https://example.org/u?who={who.name}',
               one_click=True)
    here.jobs('jobs', [job])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url)
    taken = arrived(server)
    if not report.check(done.returncode == 0 and len(taken) == 1, 'a mail arrives', told(done)):
        return
    (record, message), result = taken[0], results(done.stdout)['m/1']
    report.check(record['from'] == 'bounces@example.org' and
                 record['to'] == ['J.M@example.org', 'b@example.org', 'c@example.org', 'd@example.org'],
                 'for all its recipients, and bounces go where they should', record)
    report.check(result['recipients'] == 4 and result['reply'].startswith('250 2.0.0 taken as') and
                 f'<{result["message_id"]}>' == message['Message-ID'], 'its result tells', result)
    report.check(message['Subject'] == UMLAUTS, 'its subject is what it was', message['Subject'])
    report.check([(a.display_name, a.addr_spec) for a in message['To'].addresses] ==
                 [('Jürgen "J" Müller', 'J.M@example.org')] and
                 [a.addr_spec for a in message['Cc'].addresses] == ['b@example.org', 'c@example.org'] and
                 message['Reply-To'] == 'r@example.org', 'its addresses, too', message.as_string())
    report.check('d@example.org' not in record['content'], 'a Bcc is not shown')
    text, html = (text_of(message.get_body((kind,))) for kind in ('plain', 'html'))
    report.check(text == 'Hallo <b>Zoë & Co</b>!\nFrom hier\n.\n..punkt\n \n\tTab und Blank \nÄ = 19.9\n' +
                 'lang ' * 300,
                 'its text', text)
    report.check(html == '<p class="a">&lt;b&gt;Zoë &amp; Co&lt;/b&gt; &amp; {</p>\n' + 'Ω' * 500,
                 'its HTML, where fields are no HTML', html)
    report.check(message['X-Campaign'] == 'Frühling 19.9', 'a header of its own')
    report.check(message['List-Unsubscribe'] == '<https://example.org/u?who=%3Cb%3EZo%C3%AB%20%26%20Co%3C%2Fb%3E>' and
                 message['List-Unsubscribe-Post'] == 'List-Unsubscribe=One-Click', 'how to unsubscribe',
                 message['List-Unsubscribe'])
    lines = record['content'].split('\r\n')
    report.check(not message.defects and
                 all(len(line) <= 76 or line.startswith('List-Unsubscribe: ') for line in lines) and
                 not any('\r' in line or '\n' in line for line in lines) and record['content'].isascii(),
                 'lines are short, ASCII, and end with CR LF')


def reads_templates(report, here, server):
    (here.path / 'welcome').mkdir()
    here.write('welcome/subject.txt', 'Hello {name}\n')
    here.write('welcome/text.txt', 'Dear {name},\nwelcome.\n')
    here.write('welcome/html.html', '<p>Dear {name}</p>\n')
    here.jobs('jobs', [{'id': '1', 'to': 'a@example.org', 'name': 'Ann'}, {'id': '2', 'to': 'b@example.org'},
                       {'id': '3', 'to': 'c@example.org', 'name': 'Cleo', 'subject': 'For {name} alone'}])
    done = here.work('takt-mail', '-l', 'smtp', '-i', 'jobs', '--smtp', server.url, '--template', 'welcome', '--from',
                     'Takt <me@example.org>', '--list-unsubscribe', 'mailto:out@example.org?subject={id}')
    taken = {record['to'][0]: message for record, message in arrived(server)}
    report.check(done.returncode == 1 and set(taken) == {'a@example.org', 'c@example.org'} and
                 taken['a@example.org']['Subject'] == 'Hello Ann' and
                 text_of(taken['a@example.org'].get_body(('html',))) == '<p>Dear Ann</p>\n' and
                 taken['a@example.org']['List-Unsubscribe'] == '<mailto:out@example.org?subject=1>' and
                 taken['c@example.org']['Subject'] == 'For Cleo alone', 'templates of a folder', told(done))
    report.check('subject: line 1: {name}: the job has no such field' in here.letters('jobs.dead')[0]['why'],
                 'a field that is missing is told of', here.read('jobs.dead'))
    here.write('bad.html', 'a\n<style>p {color: red}</style>')
    done = here.work('takt-mail', '-l', 'smtp', '--smtp', server.url, '--html', 'bad.html')
    report.check(done.returncode == 65 and 'bad.html: line 2:' in done.stderr and 'a brace as {{' in done.stderr,
                 'a template that cannot be read ends it at its start', told(done))


def injects_nothing(report, here, server):
    evil = 'x\r\nBcc: evil@example.org\r\n\r\nbody'
    here.jobs('jobs', [mail('1', 'a@example.org\r\nRCPT TO:<evil@example.org>'),
                       mail('2', 'a@example.org', subject=evil),
                       mail('3', 'a@example.org', subject='{x}', x=evil), mail('4', f'"{evil}" <a@example.org>'),
                       mail('5', 'a@example.org', headers={'X-A': evil}),
                       mail('6', 'a@example.org', headers={evil: 'x'}),
                       mail('7', 'a@example.org', list_unsubscribe=f'https://example.org/{evil}'),
                       mail('8', 'a@example.org', **{'from': f'me@example.org{evil}'}),
                       mail('9', 'a@example.org', return_path='me@example.org> SIZE=1\r\nRSET'),
                       mail('10', 'a@example.org, evil@example.org'), mail('11', 'a b@example.org'),
                       mail('text', 'a@example.org', text='.\r\n.\nMAIL FROM:<evil@example.org>\r\n.\r\n')])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url)
    taken = arrived(server)
    report.check(done.returncode == 1 and len(here.letters('jobs.dead')) == 11, 'whatever might inject is refused',
                 told(done))
    report.check([record['to'] for record, _ in taken] == [['a@example.org']] and
                 text_of(taken[0][1]) == '.\n.\nMAIL FROM:<evil@example.org>\n.\n', 'what stands in a text stays there',
                 taken)


def writes_files_instead(report, here, server):
    here.jobs('jobs', [mail('../../up', 'a@example.org'), mail('.', 'b@example.org', text='zwei ü'),
                       mail('x' * 255, 'c@example.org')])
    done = here.work('takt-mail', '-i', 'jobs', '--dry-run', 'drafts', env={**here.environment, 'TAKT_SMTP_USER': 'x'})
    names = sorted(path.name for path in (here.path / 'drafts').iterdir())
    report.check(done.returncode == 0 and names[:2] == ['%2E.%2F..%2Fup.eml', '%2E.eml'] and len(names) == 3 and
                 all(result['reply'] == 'dry run' for result in results(done.stdout).values()),
                 '--dry-run writes files, all in its folder', f'{told(done)}{names}')
    message = email.message_from_bytes((here.path / 'drafts/%2E.eml').read_bytes(), policy=email.policy.default)
    report.check(message['To'] == 'b@example.org' and text_of(message) == 'zwei ü', 'with the mails in them')
    left = sorted(path.name for path in here.path.iterdir() if path.name.startswith('jobs'))
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url)
    report.check(left == ['jobs'] and done.returncode == 0 and len(arrived(server)) == 3,
                 'and nothing is noted as done: then they are sent', f'{left}{told(done)}')
    usual = here.read('takt.yaml')
    policy(here, '{rate: 1/h}')
    here.jobs('slow', [*(mail(f's{number}', 'a@example.org', key='slow') for number in range(3)),
                       mail('none', 'a@example.org', limit='nowhere')])
    done = here.work('takt-mail', '-i', 'slow', '--dry-run', 'drafts')
    report.check(sorted(results(done.stdout)) == ['s0', 's1', 's2'] and 'nowhere' in done.stderr
                 and here.peek('smtp:slow')['remaining'] == 1, 'nothing is taken of a limit, and nothing waits for it',
                 f'{told(done)}{here.peek("smtp:slow")}')
    starts = [datetime.datetime.fromisoformat(result['would_start']) for _, result in sorted(results(done.stdout).items())]
    report.check([round((start - starts[0]).total_seconds()) for start in starts] == [0, 3600, 7200] and
                 'smtp: 3 jobs would start, the first at ' in done.stderr, 'it tells when each would be sent', told(done))
    here.write('takt.yaml', 'limits:\n  - {name: smtp, rules: [{rate: 1/h}], within: all}\n'
               '  - {name: all, rules: [{rate: 1000/s}]}\n')
    here.jobs('turns', [mail(f't{number}', 'a@example.org', key=key) for number, key in enumerate('aabbcacb')])
    done = here.work('takt-mail', '-i', 'turns', '--dry-run', 'drafts')
    found = [datetime.datetime.fromisoformat(result['would_start']) for _, result in sorted(results(done.stdout).items())]
    report.check([round((start - found[0]).total_seconds() / 3600) for start in found] == [0, 1, 1, 2, 2, 2, 3, 3] and
                 'upper bounds, because it is within all' in done.stderr, 'in the order of the file, whatever the keys',
                 f'{told(done)}{found}')
    policy(here, '{rate: 1/h}')
    here.jobs('late', [mail('now', 'a@example.org', key='slow'),
                       mail('late', 'a@example.org', key='slow', deadline=(starts[0] + HALF_AN_HOUR).isoformat())])
    done = here.work('takt-mail', '-i', 'late', '--dry-run', 'drafts')
    report.check(list(results(done.stdout)) == ['now'] and done.returncode == 1 and 'deadline' in done.stderr,
                 'and which would come after its deadline', told(done))
    here.write('takt.yaml', usual)
    done = here.work('takt-mail', '--stream', 'mails', '--dry-run', 'drafts')
    report.check(done.returncode == 64 and '--input' in done.stderr, 'nor taken out of a stream', told(done))


def retries_what_may_pass(report, here, server):
    here.jobs('jobs', [mail('full', 'full-a@example.org'), mail('lost', 'lost-a@example.org'),
                       mail('grey', 'grey-a@example.org')])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url, '--retry-first', '1ms')
    taken = arrived(server)
    report.check(done.returncode == 0 and len(taken) == 3 and len(results(done.stdout)) == 3,
                 'after 4xx, or a connection that ends, a mail is tried again', told(done))
    report.check(not here.peek('smtp')['blocked_until_us'], 'which slows nobody down, where the recipient is meant',
                 here.peek('smtp'))


def believes_no_mixed_reply(report, here, server):
    """The last line of a reply says that the mail was taken, the first one that it was not."""
    here.jobs('jobs', [mail('odd', 'odd-a@example.org'), mail('odder', 'odder-a@example.org'), mail('good', 'a@b.org')])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url, '--retry-first', '1ms')
    taken = [record['to'][0].split('-')[0] for record, _ in arrived(server)]
    report.check(done.returncode == 0 and sorted(taken) == ['a@b.org', 'odd', 'odder']
                 and done.stderr.count("the lines of the mail server's reply "
                                       "have different codes: 550 and 250") == 2,
                 'a reply whose lines disagree is none: the mail is tried again', f'{told(done)}{taken}')
    report.check(set(results(done.stdout)) == {'odd', 'odder', 'good'}, 'and sent then', told(done))


def slows_down_for_the_server(report, here, server):
    here.jobs('jobs', [mail('busy', 'busy-a@example.org')])
    worker = here.begin('takt-mail', '-i', 'jobs', '--smtp', server.url, '--retry-first', '1ms', '--pause', '1h')
    ends.until(lambda: here.peek('smtp')['blocked_until_us'], 'the limit is never blocked')
    here.until_waiting('smtp', 1)
    standing = here.peek('smtp')
    report.check(standing['blocked_until_us'] and '421 4.7.0 too many mails' in standing['reason'],
                 'a 421 blocks the limit of the fleet, and says why', standing)
    here.takt('unblock', 'smtp')
    status, output, messages = end(worker)
    report.check(status == 0 and list(results(output)) == ['busy'], 'when that is over the mail goes',
                 f'{output}{messages}')


def buries_what_is_refused(report, here, server):
    here.jobs('jobs', [mail('1', ['ok@example.org', 'gone-a@example.org']), mail('2', 'fine@example.org')])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url)
    dead = here.letters('jobs.dead')
    report.check(done.returncode == 1 and [letter['id'] for letter in dead] == ['1'] and
                 dead[0]['why'] == '550 5.1.1 no such user: nobody is called that', '5xx is the end, with the reply',
                 f'{told(done)}{dead}')
    report.check([record['to'] for record, _ in arrived(server)] == [['fine@example.org']],
                 'where one recipient is refused, nobody gets the mail')


def never_waits_for_a_good_bye(report, here, server):
    here.jobs('jobs', [mail('1', 'held-a@example.org'), mail('2', 'fine@example.org')])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url, '--connections', '1')
    report.check(done.returncode == 1 and list(results(done.stdout)) == ['2'],
                 'a server that is slow to say good-bye holds up nothing', told(done))


def keeps_connections(report, here, server):
    here.jobs('jobs', [mail(str(n), f'u{n}@example.org') for n in range(50)])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url, '--connections', '2', '--hello', 'me.example.org')
    taken = [record for record, _ in arrived(server)]
    report.check(done.returncode == 0 and len(taken) == 50 and len({record['peer'] for record in taken}) <= 2 and
                 {record['hello'] for record in taken} == {'me.example.org'}, 'connections are used again', told(done))
    here.jobs('more', [mail(str(n), f'bye-{n}@example.org') for n in range(20)])
    done = here.work('takt-mail', '-i', 'more', '--smtp', server.url, '--connections', '1', '--attempts', '1')
    report.check(done.returncode == 0 and len(results(done.stdout)) == 20,
                 'one that the server has ended meanwhile costs no attempt', told(done))
    report.check(sorted(collections.Counter(record['to'][0] for record, _ in arrived(server)).values()) == [1] * 70,
                 'and no mail goes twice')


def counts_recipients(report, here, server):
    policy(here, '{rate: 5/h, burst: 5}')
    here.jobs('jobs', [mail('1', ['a@example.org', 'b@example.org', 'c@example.org']),
                       mail('2', ['a@example.com', 'b@example.com'], key='x/{domain}'),
                       mail('3', ['a@example.com', 'b@example.net'], key='{domain}'),
                       mail('4', [f'u{n}@example.org' for n in range(6)])])
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url)
    dead = {letter['id']: letter['why'] for letter in here.letters('jobs.dead')}
    report.check(set(results(done.stdout)) == {'1', '2'} and here.peek('smtp')['remaining'] == 2,
                 'a mail counts as many as it has recipients', told(done))
    report.check(here.peek('smtp:x/example.com')['remaining'] == 3, 'with the key of its domain')
    report.check(set(dead) == {'3', '4'} and 'example.com and to example.net' in dead['3'] and
                 'a cost of 6 can never be given' in dead['4'], 'of which there must be one', dead)
    done = here.work('takt-mail', '-i', 'jobs', '--smtp', server.url, '--key', '{domian}')
    report.check(done.returncode == 64 and '--key: {domian}: the only field of a key is {domain}' in done.stderr,
                 'another field is refused at once', told(done))
    here.write('takt.yaml', 'limits:\n  - name: both\n    rules: [{rate: 100/h, burst: 100, counts: requests}, '
               '{rate: 8/h, burst: 8, counts: recipients}]\n')
    here.jobs('more', [mail('1', ['a@example.org', 'b@example.org', 'c@example.org'], limit='both'),
                       mail('2', [f'u{n}@example.org' for n in range(9)], limit='both')])
    done = here.work('takt-mail', '-i', 'more', '--smtp', server.url)
    dead = {letter['id']: letter['why'] for letter in here.letters('more.dead')}
    report.check(set(results(done.stdout)) == {'1'} and here.peek('both')['remaining'] == 5 and
                 '9 recipients can never be given' in dead['2'], 'a limit may count them beside mails', told(done))


def checks_the_server(report, here, _):
    authority, other = Authority(here, 'localhost'), Authority(here, 'mail.example.org')
    here.jobs('jobs', [mail('1', 'a@example.org')])

    def attempt(server, *options, name='localhost', scheme='smtp'):
        for file in ('jobs.state', 'jobs.dead'):
            (here.path / file).unlink(missing_ok=True)
        return here.work('takt-mail', '-i', 'jobs', '--attempts', '1', '--outage', '0s', '--smtp',
                         f'{scheme}://{name}:{server.port}', *options)

    with serve(here, certificate=authority.certificate, key=authority.key) as server:
        done = attempt(server, '--starttls', 'required', '--ca', authority.ca)
        report.check(done.returncode == 0 and [record['tls'] for record, _ in arrived(server)] == [True],
                     'STARTTLS, with an authority of our own', told(done))
        done = attempt(server, '--starttls', 'required')
        report.check(done.returncode == 1 and 'cannot be used' in here.read('jobs.dead') and
                     'certificate' in done.stderr,
                     'an authority that is not known is refused', told(done))
        done = attempt(server, '--starttls', 'try', '--ca', authority.ca, name='127.0.0.1')
        report.check(done.returncode == 1 and 'cannot be used' in here.read('jobs.dead'),
                     'so is a name that the certificate does not have', told(done))
        report.check(len(arrived(server)) == 1, 'and nothing is sent there')
    with serve(here, certificate=other.certificate, key=other.key) as server:
        done = attempt(server, '--starttls', 'required', '--ca', other.ca)
        report.check(done.returncode == 1 and not arrived(server), 'so is the certificate of another host', told(done))
    with serve(here, certificate=authority.certificate, key=authority.key, tls_first=True) as server:
        done = attempt(server, '--ca', authority.ca, scheme='smtps')
        report.check(done.returncode == 0 and len(arrived(server)) == 1, 'TLS from the first byte', told(done))
    with serve(here) as server:
        done = attempt(server, '--starttls', 'required')
        report.check(done.returncode == 1 and 'offers no STARTTLS' in done.stderr and not arrived(server),
                     'a server without TLS is refused where TLS is required', told(done))
        gone = server
    done = attempt(gone)
    report.check(done.returncode == 1 and 'cannot be used' in here.read('jobs.dead'), 'a server that is gone cannot be used',
                 told(done))


def waits_for_the_server(report, here, server):
    """A server that is away costs a mail none of its attempts, of which it has one."""
    server.stop()
    here.jobs('jobs', [mail('1', 'a@example.org'), mail('2', 'b@example.org')])
    worker = here.begin('takt-mail', '-i', 'jobs', '--attempts', '1', '--smtp', server.url)
    said = until(worker.stderr.fileno(), b' retry ')
    ends.until(lambda: here.peek('smtp')['blocked_until_us'], lambda: f'the limit is not paused: {said}')
    worker.terminate()
    report.check(end(worker)[0] == 0, 'a server that is away pauses the limit', said)
    worker = here.begin('takt-mail', '-i', 'jobs', '--attempts', '1', '--smtp', server.url)
    said = until(worker.stderr.fileno(), b' retry ')
    with serve(here, port=server.port) as back:
        status, output, messages = end(worker)
        report.check(status == 0 and len(results(output)) == 2 and len(arrived(back)) == 2,
                     'and costs no attempt: when it is back the mails go', f'{said}{messages}')


def logs_in(report, here, _):
    authority = Authority(here, 'localhost')
    here.jobs('jobs', [mail('1', 'a@example.org')])
    heard = []

    def attempt(server, *options, **environment):
        for file in ('jobs.state', 'jobs.dead'):
            (here.path / file).unlink(missing_ok=True)
        done = here.work('takt-mail', '-i', 'jobs', '--attempts', '1', '--outage', '0s', '--smtp',
                         f'smtp://localhost:{server.port}', '--starttls', 'required', '--ca', authority.ca,
                         '--metrics-file', 'metrics', *options, env={**here.environment, **environment})
        heard.append(done.stdout + done.stderr)
        heard.extend(here.read(file) for file in ('jobs.state', 'jobs.dead', 'metrics') if here.size(file))
        return done

    with serve(here, certificate=authority.certificate, key=authority.key, user=USER, password=CANARY) as server:
        done = attempt(server, TAKT_SMTP_USER=USER, TAKT_SMTP_PASSWORD=CANARY)
        report.check(done.returncode == 0 and len(arrived(server)) == 1, 'a password of the environment', told(done))
        login = here.write('login', f'{USER}\n{CANARY}\n')
        done = attempt(server, '--login', login)
        report.check(done.returncode == 0 and len(arrived(server)) == 2, 'a password of a file', told(done))
        done = attempt(server, TAKT_SMTP_USER=USER, TAKT_SMTP_PASSWORD=CANARY + 'x')
        report.check(done.returncode == 1 and 'refuses user and password (535)' in here.read('jobs.dead') and
                     len(arrived(server)) == 2, 'a wrong one', told(done))
        here.takt('unblock', 'smtp')
        done = attempt(server)
        report.check(done.returncode == 1 and '530' in here.read('jobs.dead'), 'none', told(done))
        here.takt('unblock', 'smtp')
    report.check(not any(CANARY in text for text in heard), 'no password is ever shown')
    for arguments, words in ((['--smtp', f'smtp://{USER}:{CANARY}@localhost'], '$TAKT_SMTP_PASSWORD'),
                             (['--smtp', 'smtp://mail.example.org', '--starttls', 'try', '--login', login],
                              'sent unencrypted to mail.example.org')):
        done = here.work('takt-mail', '-i', 'jobs', *arguments)
        report.check(done.returncode == 64 and words in done.stderr and CANARY not in done.stderr, words, told(done))


def goes_on_after_kill(report, here, server):
    """
    A worker with a file is killed in the middle; the next run sends the rest. What was not recorded may come twice: the
    mails that the server has, and the results that wait to be written.
    """
    policy(here, '{rate: 2000/s, burst: 10}')
    here.jobs('jobs', [mail(str(n), f'u{n}@example.org') for n in range(1000)])
    arguments = ('takt-mail', '-i', 'jobs', '--smtp', server.url, '--connections', '8')
    worker = here.begin(*arguments)
    until(worker.stdout.fileno(), b'"id":"200"')
    worker.kill()
    end(worker)
    states = [json.loads(line) for line in here.read('jobs.state').split('\n')[:-1]]
    recorded = {f'u{state["line"] - 1}@example.org' for state in states if state.get('status') == 'done'}
    done = here.work(*arguments)
    counts = collections.Counter(mails_of(server))
    report.check(done.returncode == 0 and len(counts) == 1000, 'after kill -9 the next run loses nothing',
                 f'{told(done)[-2000:]}{len(counts)}')
    twice = {name for name, count in counts.items() if count > 1}
    ids = {record['to'][0]: message['Message-ID'] for record, message in arrived(server)}
    same = all(ids[record['to'][0]] == message['Message-ID'] for record, message in arrived(server))
    report.check(recorded and not twice & recorded and max(counts.values()) <= 2 and same,
                 'only what was not recorded comes twice, with the same Message-ID', (len(recorded), twice & recorded))


CASES = (sends_what_the_job_says, reads_templates, injects_nothing, writes_files_instead, retries_what_may_pass,
         believes_no_mixed_reply, slows_down_for_the_server, buries_what_is_refused, never_waits_for_a_good_bye,
         keeps_connections, counts_recipients, checks_the_server, waits_for_the_server, logs_in, goes_on_after_kill)


def main():
    report = tap.Report()
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        with work_place() as here:
            policy(here, '{rate: 1000000/s, burst: 100000}')
            with serve(here) as server:
                case(report, here, server)
    report.end()


if __name__ == '__main__':
    main()
