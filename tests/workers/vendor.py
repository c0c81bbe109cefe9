"""
A vendor: an HTTP service with a quota of its own, in a thread. It judges by its own log of arrivals and knows nothing
of takt. The requested path decides the answer; `reply` adds more of them.
"""

import asyncio
import collections
import contextlib
import json
import math
import threading

from leading_clock import LeadingClock

REASONS = {200: 'OK', 204: 'No Content', 302: 'Found', 429: 'Too Many Requests', 503: 'Service Unavailable'}


class Request:
    """A request."""

    def __init__(self, head, body):
        lines = head.decode('latin-1').split('\r\n')
        self.method, self.path, _ = lines[0].split(' ')
        self.headers = [tuple(line.split(': ', 1)) if ': ' in line else (line.rstrip(':'), '') for line in lines[1:]]
        self.body = body

    def header(self, name):
        """The values of a header, in order."""
        return [value for other, value in self.headers if other.lower() == name.lower()]


class Connection(asyncio.Protocol):
    """One connection, kept for as many requests as come."""

    def __init__(self, vendor):
        self.vendor = vendor
        self.got = b''
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data
        while b'\r\n\r\n' in self.got:
            head, rest = self.got.split(b'\r\n\r\n', 1)
            request = Request(head, b'')
            size = int((request.header('content-length') or ['0'])[0])
            if len(rest) < size:
                return
            request.body, self.got = rest[:size], rest[size:]
            answer = self.vendor.answer(request)
            if answer is not None:
                self.transport.write(answer)


def answer_of(status, body=b'', headers=()):
    """The bytes of an answer."""
    fields = [('Content-Length', str(len(body))), *headers]
    head = f'HTTP/1.1 {status} {REASONS.get(status, "So")}\r\n' + ''.join(f'{n}: {v}\r\n' for n, v in fields) + '\r\n'
    return head.encode() + body


class Server:
    """A server on a loop in a thread of its own, from its start to its stop."""

    def start(self, connection, port=0, **options):
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(self.loop.create_server(connection, '127.0.0.1', port, **options))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.server.close()
        self.loop.close()


@contextlib.contextmanager
def until_stopped(server):
    try:
        yield server
    finally:
        server.stop()


class Vendor(Server):
    """
    At most `limit` requests of /quota in any `period` seconds. Where it is `used_up`, somebody else has just used all of
    that when the first one comes.
    """

    def __init__(self, limit=1, period=1.0, used_up=False, port=0):
        self.limit, self.period, self.used_up = limit, period, used_up
        self.clock = LeadingClock()
        self.arrivals = collections.deque()
        self.served = self.refused = 0
        self.asked = []
        self.reply = {}
        self.start(lambda: Connection(self), port)
        self.url = f'http://127.0.0.1:{self.port}'

    def quota(self):
        now = self.clock.now()
        if self.used_up:
            self.arrivals.extend([now] * self.limit)
            self.used_up = False
        while self.arrivals and now - self.arrivals[0] >= self.period:
            self.arrivals.popleft()
        if len(self.arrivals) >= self.limit:
            self.refused += 1
            wait = self.arrivals[0] + self.period - now
            return answer_of(429, b'too fast', [('Retry-After', str(math.ceil(wait)))])
        self.arrivals.append(now)
        self.served += 1
        return answer_of(200, b'{}')

    def answer(self, request):
        path = request.path.split('?')[0]
        if path == '/quota':
            return self.quota()
        self.asked.append(request)
        if path in self.reply:
            reply = self.reply[path]
            return reply(request) if callable(reply) else reply
        if path == '/echo':
            said = {'method': request.method, 'headers': request.headers, 'body': request.body.decode()}
            return answer_of(200, json.dumps(said).encode())
        return answer_of(404, b'no such thing')

    def asked_for(self, path):
        return [request for request in self.asked if request.path == path]


def vendor(*arguments, **options):
    return until_stopped(Vendor(*arguments, **options))


__all__ = ['Server', 'Vendor', 'answer_of', 'until_stopped', 'vendor']
