#!/usr/bin/env python3
"""
How much of a vendor's quota a fleet uses that is never refused. 8 takt-call workers make calls of 50 to 8,000 tokens to
a vendor on this host that meters requests, tokens and calls at once over exact sliding windows; tokens are scarce. Then
the estimates are wrong by a factor of 0.2 to 3, and what was used is settled.

    metered.py BUILD [redis|file] [CALLS] [outputs]

With `outputs` the vendor also meters the tokens of the output: the limit counts requests, two units and permits.

`used_percent` is of the tokens in whole periods; `most_over_tokens` is what a period had beyond the quota and what was
under way in it, at worst: below 0 there was none.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SOURCE / 'tests'), str(SOURCE / 'tests' / 'workers')]
import redis_server  # noqa: E402
from metered import jobs, metered, policy  # noqa: E402

WORKERS, AT_ONCE, PERIOD = 8, 20, 5
REQUESTS, TOKENS, OUTPUTS = 4000, 2000000, 1000000
LOOKAHEAD = os.environ.get('LOOKAHEAD', '20ms')  # about as long as a call: a slot in hand holds a permit


def work(build, folder, store, of_workers):
    """All workers to their end; how many calls were answered."""
    started = []
    for worker, its_jobs in enumerate(of_workers):
        (folder / f'jobs{worker}').write_text(''.join(json.dumps(job) + '\n' for job in its_jobs), encoding='ascii')
        started.append(subprocess.Popen([build / 'workers/call/takt-call', '-p', 'takt.yaml', '-s', store,
                                         '-i', f'jobs{worker}', '--results', f'results{worker}', '--log', 'none',
                                         '--hosts', '127.0.0.1', '--parallel', '5'], cwd=folder))
    for process in started:
        process.wait()
    return sum((folder / f'results{worker}').read_text(encoding='utf-8').count('\n') for worker in range(WORKERS))


def measure(build, folder, name, store, calls, wrong, outputs):
    settled = wrong != (1, 1)
    settle = '{tokens: /usage/total_tokens, output_tokens: /usage/completion_tokens}' if outputs else 'openai'
    text = policy(REQUESTS, TOKENS, PERIOD, AT_ONCE,
                  f'    lookahead: {LOOKAHEAD}\n    settle: "{settle}"\n', outputs)
    (folder / 'takt.yaml').write_text(text, encoding='ascii')
    began = time.monotonic()
    with metered(REQUESTS, TOKENS, PERIOD, AT_ONCE, watches=settled, outputs=outputs) as vendor:
        done = work(build, folder, store, jobs(vendor.url, calls, WORKERS, wrong, outputs is not None))
        figures = {'bench': 'metered', 'store': name, 'units': 2 if outputs else 1,
                   'estimates': f'{wrong[0]} to {wrong[1]}', 'workers': WORKERS,
                   'lookahead': LOOKAHEAD, 'calls': calls, 'done': done, 'refused': len(vendor.refused),
                   'refused_for': sorted({what for whats in vendor.refused for what in whats}),
                   'most_at_once': vendor.most_at_once,
                   'used_percent': round(100 * vendor.used(), 2), 'took_s': round(time.monotonic() - began, 1)}
    if settled:
        figures['most_over_tokens'] = vendor.most_over if vendor.highest > TOKENS else None
        figures['highest_percent'] = round(100 * vendor.highest / TOKENS, 2)
    print(json.dumps(figures), flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    name = sys.argv[2] if len(sys.argv) > 2 else 'redis'
    calls = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3].isdigit() else 10000
    outputs = OUTPUTS if 'outputs' in sys.argv[3:] else None
    for wrong in ((1, 1), (0.2, 3)):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            if name == 'file':
                measure(build, folder, name, f'file:{folder / "metered.db"}', calls, wrong, outputs)
            else:
                with redis_server.server(folder) as redis:
                    measure(build, folder, name, redis.url, calls, wrong, outputs)


if __name__ == '__main__':
    main()
