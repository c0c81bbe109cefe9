/*
 * rate-limiter-flexible over Redis, with the queue that makes work wait.
 */
'use strict';

const Redis = require('ioredis');
const { RateLimiterRedis, RateLimiterQueue } = require('rate-limiter-flexible');
const { plan, waitForAll, saturate, timeEach, end } = require('./common');

const storeClient = new Redis({ path: plan.socket });

function limiter(points, duration) {
  return new RateLimiterRedis({ storeClient, keyPrefix: 'bench', points, duration });
}

const workloads = {
  async ceiling() {
    await waitForAll();
    const free = new RateLimiterQueue(limiter(1000000000, 3600));
    await saturate(plan.outstanding, () => free.removeTokens(1));
  },
  async pacing() {
    await waitForAll();
    const paced = new RateLimiterQueue(limiter(plan.rate, 1));
    await saturate(plan.outstanding, () => paced.removeTokens(1));
  },
  async latency() {
    const free = limiter(1000000000, 3600);
    return { took_ns: await timeEach(plan.count, () => free.consume('one')) };
  },
  async memory() {
    const each = limiter(100, 3600);
    for (let i = 0; i < plan.count; i += 1000) {
      await Promise.all(Array.from({ length: 1000 }, (_, j) => each.consume(`key-${i + j}`)));
    }
  },
};

workloads.waiting = workloads.pacing; // with many more at a time
workloads[plan.workload]().then(end);
