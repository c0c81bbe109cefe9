/*
 * What the drivers under Node share: how one is called, the clock, and how what was seen is told.
 *
 *     node DRIVER.js '{"workload": "pacing", "socket": "/tmp/redis.sock", ...}'
 *
 * A driver prints one JSON line when it is done, with `grants`; instants are microseconds of CLOCK_MONOTONIC, as in all
 * other drivers, and go to the file `out` as 64-bit numbers. Where processes begin together, each prints "ready" and goes
 * when it reads when what counts begins and ends, and when everything ends.
 */
'use strict';

const fs = require('fs');

const plan = JSON.parse(process.argv[2]);
const starts = [];
const worked = { jobs: 0, jobs_us: 0, busy_us: 0 };

function nowUs() {
  return Number(process.hrtime.bigint() / 1000n);
}

/* Says that this process is ready, and waits until all are. */
async function waitForAll() {
  process.stdout.write('ready\n');
  const line = await new Promise((resolve) => { process.stdin.once('data', resolve); });
  [plan.begin_us, plan.until_us, plan.end_us] = String(line).split(' ').map(Number);
}

function granted() {
  starts.push(nowUs());
}

/* A job that takes a while: the time that counts is busy with it. */
async function work() {
  const from = nowUs();
  granted();
  await sleep(plan.job_ms);
  const to = nowUs();
  worked.jobs += 1;
  worked.jobs_us += to - from;
  worked.busy_us += Math.max(0, Math.min(to, plan.until_us) - Math.max(from, plan.begin_us));
}

/* Every `count` workers ask again and again until the plan's end: ask() is a promise of one grant. */
async function saturate(count, ask) {
  const one = async () => {
    while (nowUs() < plan.end_us) {
      await ask();
      granted();
    }
  };
  await Promise.race([
    Promise.all(Array.from({ length: count }, one)),
    new Promise((resolve) => setTimeout(resolve, (plan.end_us - nowUs()) / 1000)),
  ]);
}

/* Asks one after the other: the time that each took, in nanoseconds. */
async function timeEach(count, ask) {
  const took = [];
  for (let i = 0; i < count; i++) {
    const began = process.hrtime.bigint();
    await ask(i);
    took.push(Number(process.hrtime.bigint() - began));
  }
  return took;
}

function end(more) {
  if (plan.out) {
    fs.writeFileSync(plan.out, new Uint8Array(new BigInt64Array(starts.map(BigInt)).buffer));
  }
  process.stdout.write(JSON.stringify({ grants: starts.length, ...worked, ...more }) + '\n', () => process.exit(0));
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports = { plan, nowUs, waitForAll, granted, work, saturate, timeEach, end, sleep };
