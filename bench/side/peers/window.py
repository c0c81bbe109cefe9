"""
python3-limits over Redis: the moving window, asked again when the window says that there is room.

Called and telling as common.js says.
"""

import array
import json
import sys
import time

import limits

plan = json.loads(sys.argv[1])
starts = array.array('q')
storage = limits.storage.RedisStorage(f'redis+unix://{plan["socket"]}')
window = limits.strategies.MovingWindowRateLimiter(storage)


def now_us():
    return time.monotonic_ns() // 1000


def wait_for_all():
    """Says that this process is ready, and waits until all are."""
    print('ready', flush=True)
    plan['begin_us'], plan['until_us'], plan['end_us'] = map(int, sys.stdin.readline().split())


def wait_for(item):
    """What its manual offers to a caller that wants to wait: when the window has room again."""
    while not window.hit(item, 'bench'):
        reset, _ = window.get_window_stats(item, 'bench')
        left = (plan['end_us'] - now_us()) / 1e6
        time.sleep(max(min(reset - time.time(), left), 0.001))
        if now_us() >= plan['end_us']:
            return False
    return True


def saturate(item):
    wait_for_all()
    while now_us() < plan['end_us'] and wait_for(item):
        starts.append(now_us())
    return {}


def latency():
    item = limits.RateLimitItemPerHour(1000000000)
    took = []
    for _ in range(plan['count']):
        began = time.monotonic_ns()
        window.hit(item, 'bench')
        took.append(time.monotonic_ns() - began)
    return {'took_ns': took}


def memory():
    item = limits.RateLimitItemPerHour(100)
    for number in range(plan['count']):
        window.hit(item, f'key-{number}')
    return {}


def main():
    workloads = {
        'ceiling': lambda: saturate(limits.RateLimitItemPerHour(1000000000)),
        'pacing': lambda: saturate(limits.RateLimitItemPerSecond(plan['rate'])),
        'latency': latency,
        'memory': memory,
    }
    more = workloads[plan['workload']]()
    if plan.get('out'):
        with open(plan['out'], 'wb') as file:
            starts.tofile(file)
    print(json.dumps({'grants': len(starts), **more}))


main()
