/*
 * bottleneck, clustered over Redis as its manual shows: one limiter with the same id in every process.
 */
'use strict';

const Bottleneck = require('bottleneck');
const Redis = require('ioredis');
const { plan, waitForAll, saturate, timeEach, end, sleep, work, nowUs } = require('./common');

const connection = new Bottleneck.IORedisConnection({ client: new Redis({ path: plan.socket }) });
const scriptFn = connection.__scriptFn__.bind(connection);

/* Redis 7 puts "ERR " before what a script says, and Bottleneck would not know it for its own UNKNOWN_CLIENT: a process
   that was held up for a second, and so left out by the others, could not come back. */
connection.__scriptFn__ = (name) => (...args) => {
  const told = args.pop();
  return scriptFn(name)(...args, (error, replies) => {
    if (error) error.message = error.message.replace(/^ERR /, '');
    told(error, replies);
  });
};

function limiter(id, options) {
  return new Bottleneck({ id, datastore: 'ioredis', connection, ...options });
}

const nothing = async () => {};

const workloads = {
  async ceiling() {
    await waitForAll();
    const free = limiter('bench', { reservoir: 1000000000 });
    await saturate(plan.outstanding, () => free.schedule(nothing));
  },
  async pacing() {
    await waitForAll();
    const paced = limiter('bench', { minTime: 1000 / plan.rate });
    await saturate(plan.outstanding, () => paced.schedule(nothing));
  },
  async permits() {
    await waitForAll();
    const bounded = limiter('bench', { maxConcurrent: plan.permits });
    const one = async () => {
      while (nowUs() < plan.end_us) await bounded.schedule(work);
    };
    await Promise.race([
      Promise.all(Array.from({ length: plan.outstanding }, one)),
      sleep((plan.end_us - nowUs()) / 1000),
    ]);
  },
  async latency() {
    const free = limiter('bench', { reservoir: 1000000000 });
    return { took_ns: await timeEach(plan.count, () => free.schedule(nothing)) };
  },
  async memory() {
    const one = async (id) => {
      const each = limiter(id, { reservoir: 100, reservoirRefreshInterval: 60000, reservoirRefreshAmount: 100 });
      await each.schedule(nothing);
      await each.disconnect(); // or its heartbeats keep the server busy: its keys stay
    };
    for (let i = 0; i < plan.count; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => one(`key-${i + j}`)));
    }
  },
};

workloads.waiting = workloads.pacing; // with many more at a time
workloads[plan.workload]().then(end);
