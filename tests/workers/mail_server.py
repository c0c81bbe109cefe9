#!/usr/bin/env python3
"""
A real mail server (aiosmtpd) for test_mail.py, a program of its own. It tells its port on standard output, and writes a
line of JSON for each mail that it takes. How it treats a mail is said by the recipient's local part:

    gone-...    550, there is no such user
    busy-...    421 at first, then it is taken
    grey-...    450 with greylisting words at first, then it is taken
    full-...    452 4.2.2 at first, then it is taken
    lost-...    the first connection ends in the middle of the mail
    bye-...     taken, and then the connection ends without a word
    odd-...     at first a reply whose lines disagree: 550 and 250
    odder-...   at first such a reply to the text of the mail
    held-...    550, and the answer to the QUIT after it waits until another mail was taken
    others      taken

Usage: mail_server.py SETTINGS: JSON with log, and perhaps port, certificate and key (STARTTLS), tls_first, user,
password.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult
from leading_clock import LeadingClock


class Handler:
    def __init__(self, settings):
        self.log = open(settings['log'], 'a', encoding='utf-8')  # pylint: disable=consider-using-with
        self.clock = LeadingClock()
        self.seen = set()
        self.taken = asyncio.Event()

    def is_first(self, name):
        first = name not in self.seen
        self.seen.add(name)
        return first

    async def handle_MAIL(self, server, session, envelope, address, options):
        envelope.mail_from = address
        envelope.came_at = self.clock.now()
        envelope.mail_options.extend(options)
        return '250 2.1.0 OK'

    async def handle_RCPT(self, server, session, envelope, address, options):
        kind = address.split('-')[0]
        if kind in ('gone', 'held'):
            session.held = kind == 'held'
            return '550 5.1.1 no such user: nobody is called that'
        if kind == 'busy' and self.is_first(address):
            return '421 4.7.0 too many mails of yours'
        if kind == 'grey' and self.is_first(address):
            return '450 4.7.1 Greylisted, try again in 1 second'
        if kind == 'full' and self.is_first(address):
            return '452 4.2.2 mailbox full'
        if kind == 'odd' and self.is_first(address):
            return '550-5.1.1 no such user\r\n250 2.1.5 OK'
        envelope.rcpt_tos.append(address)
        return '250 2.1.5 OK'

    async def handle_DATA(self, server, session, envelope):
        kind = envelope.rcpt_tos[0].split('-')[0]
        if kind == 'lost' and self.is_first(envelope.rcpt_tos[0]):
            server.transport.abort()
            return '451 never heard'
        if kind == 'odder' and self.is_first(envelope.rcpt_tos[0]):
            return '550-5.7.1 no\r\nno code\r\n250 2.0.0 taken'
        record = {'at': envelope.came_at, 'from': envelope.mail_from, 'to': envelope.rcpt_tos, 'peer': session.peer[1],
                  'tls': bool(session.ssl), 'user': session.auth_data, 'hello': session.host_name,
                  'content': envelope.content.decode('latin-1')}
        self.log.write(json.dumps(record) + '\n')
        self.log.flush()
        self.taken.set()
        if kind == 'bye':
            asyncio.get_running_loop().call_soon(server.transport.close)
        return '250 2.0.0 taken as ' + str(len(self.seen))

    async def handle_QUIT(self, server, session, envelope):
        if getattr(session, 'held', False):
            await self.taken.wait()
        return '221 bye'


class Server(SMTP):
    async def push(self, status):
        """The reply to a login repeats the password, as no server should."""
        if isinstance(status, str) and status.startswith('535') and self.told_password:
            status = f'535 5.7.8 {self.told_password} is wrong'
        await super().push(status)

    told_password = None


def tls_of(settings):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings['certificate'], settings['key'])
    return context


async def main():
    settings = json.loads(sys.argv[1])
    handler = Handler(settings)
    tls = tls_of(settings) if 'certificate' in settings else None
    first = settings.get('tls_first', False)
    options = {}

    def authenticate(server, session, envelope, mechanism, data):
        server.told_password = data.password.decode()
        good = (data.login.decode(), data.password.decode()) == (settings['user'], settings['password'])
        return AuthResult(success=good, handled=good, auth_data=data.login.decode())

    if tls and not first:
        options['tls_context'] = tls
    if 'user' in settings:
        options.update(authenticator=authenticate, auth_required=True, auth_require_tls=bool(tls and not first))
    server = await asyncio.get_running_loop().create_server(
        lambda: Server(handler, enable_SMTPUTF8=False, **options), '127.0.0.1', settings.get('port', 0),
        ssl=tls if first else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == '__main__':
    asyncio.run(main())
