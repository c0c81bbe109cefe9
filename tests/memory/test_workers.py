#!/usr/bin/env python3
"""
Whichever allocation and whichever access to a file of a worker or of takt-jobs fails: it ends with a message, or with
all jobs done; and the next run does the rest. No job is lost, and none is taken for done that has no result.
"""

import http.server
import json
import pathlib
import sys
import tempfile
import threading

from failing import Case, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from redis_server import server  # noqa: E402

POLICY = 'limits:\n  - name: fast\n    rules: [{rate: 1000000/s, burst: 1000}]\n'
GOOD = [{'id': str(n), 'limit': 'fast', 'text': f'text {n}'} for n in range(6)]
JOBS = ''.join(json.dumps(job) + '\n' for job in GOOD).encode() + b'{"id":"cut"\n{"id":"\xff","limit":"fast"}\n'
FILES = {'takt.yaml': POLICY, 'jobs': JOBS}
DEAD = {7: '{"id":"cut"', 8: '{"id":"?","limit":"fast"}'}


def lines(folder, name):
    path = folder / name
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()] if path.exists() else []


def missing(done):
    """The jobs without a result and without a dead letter with their text."""
    results = {result['id'] for result in lines(done.folder, 'results')}
    letters = {(letter['line'], letter['job']) for letter in lines(done.folder, 'jobs.dead')}
    return ([job['id'] for job in GOOD if job['id'] not in results] +
            [line for line in DEAD.items() if line not in letters])


def run_again(self, done):
    """On a busy disk a store may take longer to open than a program waits for it: then once more."""
    again = self.run(done.folder, self.words)
    if 'another process holds it' in again.messages:
        again = self.run(done.folder, self.words)
    return again


def nothing_is_lost(self, done):
    if done.code == 0:
        return 'ended well, and two jobs are dead'
    again = run_again(self, done)
    names = [result['id'] for result in lines(done.folder, 'results')]
    if len(names) != len(set(names)):
        return f'done twice: {names}'
    if again.code not in (0, 1):  # 1: some died in this run
        return f'then ended with {again.code}\n{again.messages}'
    state = lines(done.folder, 'jobs.state')[1:]
    ended = {record['line'] for record in state if record['status'] in ('done', 'dead')}
    if missing(again) or len(ended) != len(GOOD) + len(DEAD):
        return f'lost {missing(again)}; {ended} have ended\n{again.messages}'
    return None


def both_are_done(self, done):
    again = run_again(self, done)
    names = [result['id'] for result in lines(done.folder, 'results')]
    good = again.code == 0 and sorted(names) == ['0', '1']
    return None if good else f'results of {names}, then ended with {again.code}'


def all_drafts(self, done):
    run_again(self, done)
    there = {path.name for path in (done.folder / 'drafts').glob('*')}
    return None if there == {'a.eml', 'b.eml'} else f'then there are {there}'


def all_are_called(self, done):
    """A call whose end was not written is made again: at least once, and each has a result."""
    again = run_again(self, done)
    names = {result['id'] for result in lines(done.folder, 'results')}
    return None if names == {'0', '1'} else f'results of {names}, then ended with {again.code}\n{again.messages}'


class Peer(http.server.BaseHTTPRequestHandler):
    """Answers with the headers and the body that a vendor may send."""

    protocol_version = 'HTTP/1.1'

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        for name, value in (('Content-Type', 'text/plain'), ('X-RateLimit-Remaining', '1000'), ('Content-Length', '5')):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b'\xff\xfe ok')

    def log_message(self, *arguments):  # pylint: disable=arguments-differ
        """Nothing is logged."""


WORDS = ('takt-print', '-i', 'jobs', '--results', 'results', '--retry-first', '1ms')
ONCE = ('',)  # it tries again as long as there is no memory
MAILS = [{'id': name, 'limit': 'fast', 'to': f'{name}@example.org', 'from': 'me@example.org', 'subject': 'Hello',
          'text': 'zwei \u00fc\n', 'html': '<p>zwei'} for name in ('a', 'b')]


def calls_of(port):
    calls = [{'id': str(n), 'limit': 'fast', 'url': f'http://127.0.0.1:{port}/a', 'method': 'POST', 'json': {'n': n},
              'headers': {'X-Key': '${env:HOME}', 'X-More': ['a', 'b']}} for n in range(2)]
    return ''.join(json.dumps(call) + '\n' for call in calls)


def main():
    peer = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Peer)
    threading.Thread(target=peer.serve_forever, daemon=True).start()
    hosts = ('--hosts', '127.0.0.1', '--secret', 'env:HOME')
    with tempfile.TemporaryDirectory() as folder, server(pathlib.Path(folder)) as redis:
        run([
            Case('takt-print', *WORDS, files=FILES, check=nothing_is_lost, ways=ONCE),
            Case('takt-print that goes on', *WORDS, files={**FILES, 'jobs': JOBS[:JOBS.index(b'{"id": "3"')]},
                 prepare=[WORDS], later={'jobs': JOBS}, check=nothing_is_lost, ways=ONCE),
            Case('takt-print at a pace', *WORDS, check=both_are_done, ways=ONCE,
                 files={**FILES, 'takt.yaml': POLICY.replace('1000000/s, burst: 1000', '20/s'),
                        'jobs': JOBS[:JOBS.index(b'{"id": "2"')]}),
            Case('takt-mail', 'takt-mail', '-i', 'jobs', '--dry-run', 'drafts', '--retry-first', '1ms',
                 files={**FILES, 'jobs': ''.join(json.dumps(mail) + '\n' for mail in MAILS)},
                 check=all_drafts, ways=ONCE, loose=True),
            Case('takt-call', 'takt-call', '-i', 'jobs', '--results', 'results', '--retry-first', '1ms', *hosts,
                 files={**FILES, 'jobs': calls_of(peer.server_port)},
                 check=all_are_called, ways=ONCE, loose=True),
            Case('takt-jobs add', 'takt-jobs', 'add', 'q', '-i', 'jobs', '-s', redis.url, files=FILES, loose=True),
            Case('takt-jobs show', 'takt-jobs', 'show', 'q', '--json', '-s', redis.url, files=FILES, loose=True),
            Case('takt-jobs dead', 'takt-jobs', 'dead', 'q', '-s', redis.url, files=FILES, loose=True),
        ], ('memory', 'io'))
    peer.shutdown()


if __name__ == '__main__':
    main()
