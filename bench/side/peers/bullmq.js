/*
 * BullMQ: a queue whose workers take jobs no faster than its limiter allows. Jobs are added while they are worked off,
 * so that there always are some.
 */
'use strict';

const { Queue, Worker } = require('bullmq');
const { plan, granted, timeEach, end, sleep, nowUs } = require('./common');

const connection = { path: plan.socket, maxRetriesPerRequest: null };
const queue = new Queue('bench', { connection });
const kept = { removeOnComplete: true, removeOnFail: true };

function worker(options, job) {
  return new Worker('bench', job, { connection, drainDelay: 1, ...options });
}

/* Keeps the queue from running empty until the plan's end. */
async function feed(atOnce) {
  while (nowUs() < plan.end_us) {
    if ((await queue.getWaitingCount()) < atOnce * 2) {
      await queue.addBulk(Array.from({ length: atOnce }, () => ({ name: 'job', data: {}, opts: kept })));
    } else {
      await sleep(20);
    }
  }
}

async function work(options, job) {
  worker(options, job);
  if (plan.index === 0) {
    await feed(plan.feed);
  } else {
    await sleep((plan.end_us - nowUs()) / 1000);
  }
}

const workloads = {
  async ceiling() {
    await work({ concurrency: 100, limiter: { max: 1000000000, duration: 1000 } }, async () => granted());
  },
  async pacing() {
    await work({ concurrency: plan.outstanding, limiter: { max: plan.rate, duration: 1000 } }, async () => granted());
  },
  async waiting() {
    if (plan.index === 0) {
      await queue.addBulk(Array.from({ length: plan.outstanding * plan.processes }, () => ({ name: 'job', data: {}, opts: kept })));
    }
    worker({ concurrency: 100, limiter: { max: plan.rate, duration: 1000 } }, async () => granted());
    await sleep((plan.end_us - nowUs()) / 1000);
  },
  async permits() {
    await queue.setGlobalConcurrency(plan.permits);
    await work({ concurrency: plan.outstanding }, async () => {
      granted();
      await sleep(plan.job_ms);
    });
  },
  async latency() {
    let done = null;
    worker({ concurrency: 1, limiter: { max: 1000000000, duration: 1000 } }, async () => done());
    await sleep(300);
    return {
      took_ns: await timeEach(plan.count, () => {
        const started = new Promise((resolve) => { done = resolve; });
        return queue.add('job', {}, kept).then(() => started);
      }),
    };
  },
};

workloads[plan.workload]().then(end);
