/*
 * BullMQ: a queue whose workers take jobs no faster than its limiter allows.
 */
'use strict';

const { Queue, Worker } = require('bullmq');
const { plan, waitForAll, granted, work, timeEach, end, sleep, nowUs } = require('./common');

const connection = { path: plan.socket, maxRetriesPerRequest: null };
const queue = new Queue('bench', { connection });
const kept = { removeOnComplete: true, removeOnFail: true };

function worker(options, job) {
  return new Worker('bench', job, { connection, drainDelay: 1, ...options });
}

async function add(count) {
  for (let left = count; left > 0; left -= 1000) {
    await queue.addBulk(Array.from({ length: Math.min(left, 1000) }, () => ({ name: 'job', data: {}, opts: kept })));
  }
}

/* All jobs are there before the workers begin, so that nothing is measured but their work. */
async function run(jobs, options, job) {
  if (plan.index === 0) await add(jobs);
  await waitForAll();
  await sleep((plan.begin_us - nowUs()) / 1000 - 300);
  worker(options, job);
  await sleep((plan.end_us - nowUs()) / 1000);
}

/* As many jobs as start until the end with so many a second, and some more. */
function enough(rate) {
  return Math.ceil(rate * (plan.seconds + 4));
}

const note = async () => granted();

const workloads = {
  async ceiling() {
    await run(12000, { concurrency: 100, limiter: { max: 1000000000, duration: 1000 } }, note);
  },
  async pacing() {
    await run(enough(plan.rate), { concurrency: plan.outstanding, limiter: { max: plan.rate, duration: 1000 } }, note);
  },
  async waiting() {
    await run(plan.outstanding * plan.processes, { concurrency: 100, limiter: { max: plan.rate, duration: 1000 } }, note);
  },
  async permits() {
    await queue.setGlobalConcurrency(plan.permits);
    await run(enough(plan.permits * 1000 / plan.job_ms), { concurrency: plan.outstanding }, work);
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
