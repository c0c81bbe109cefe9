"""What test_mail.py and test_mail_fleet.py need beside a place to work in: a mail server, and mails."""

import contextlib
import email
import email.policy
import json
import pathlib
import subprocess
import sys

from program import ends

USER = 'post'
CANARY = 'canary-8Kq2'


class MailServer:
    """A mail_server.py that runs."""

    def __init__(self, here, settings):
        self.log = here.path / f'mails-{len(here.started)}'
        self.log.write_text('')
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [interpreter(), str(pathlib.Path(__file__).with_name('mail_server.py')),
             json.dumps({'log': str(self.log), **settings})],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        here.started.append(self.process)
        self.port = int(ends.line(self.process))
        self.url = f'smtp://127.0.0.1:{self.port}'

    def stop(self):
        self.process.kill()
        ends.wait(self.process)
        self.process.stdout.close()


def interpreter():
    """A Python that has aiosmtpd: the distribution's, which need not be the one that runs this."""
    for python in ('/usr/bin/python3', sys.executable):
        if subprocess.run([python, '-c', 'import aiosmtpd'], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    raise SystemExit('no Python has aiosmtpd: install it by scripts/install-packages test')


@contextlib.contextmanager
def serve(here, **settings):
    server = MailServer(here, settings)
    try:
        yield server
    finally:
        server.stop()


def arrived(server):
    """What the server took: its records, and the mails as Python's email reads them."""
    records = [json.loads(line) for line in server.log.read_text(encoding='utf-8').splitlines()]
    return [(record, email.message_from_bytes(record['content'].encode('latin-1'), policy=email.policy.default))
            for record in records]


def text_of(part):
    """A text as it was before it was made ready for mail, where lines end with CR LF."""
    return part.get_content().replace('\r\n', '\n')


def mails_of(server):
    """The recipient of each mail that the server took; all of them have one."""
    return [json.loads(line)['to'][0] for line in server.log.read_text(encoding='utf-8').splitlines()]


def mail(name, to, **fields):
    """A job."""
    return {'id': name, 'limit': 'smtp', 'to': to, 'from': 'me@example.org', 'subject': 'Hello', 'text': 'Hello.\n',
            **fields}


def policy(here, rule):
    here.write('takt.yaml', f'limits:\n  - name: smtp\n    rules: [{rule}]\n')


