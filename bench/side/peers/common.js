/*
 * What the drivers under Node share: how one is called, the clock, and how what was seen is told.
 *
 *     node DRIVER.js '{"workload": "pacing", "socket": "/tmp/redis.sock", ...}'
 *
 * A driver prints one JSON line when it is done, with `grants`; instants are microseconds of CLOCK_MONOTONIC, as in all
 * other drivers, and go to the file `out` as 64-bit numbers.
 */
'use strict';

const fs = require('fs');

const plan = JSON.parse(process.argv[2]);
const starts = [];
let readyUs = 0;
const worked = { jobs: 0, jobs_us: 0, busy_us: 0 };

function nowUs() {
  return Number(process.hrtime.bigint() / 1000n);
}

/* Whoever is not ready when the time that counts begins is run anew, with more time to start. */
function ready() {
  readyUs = nowUs();
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
  process.stdout.write(JSON.stringify({ grants: starts.length, ready_us: readyUs, ...worked, ...more }) + '\n', () => process.exit(0));
}

ready(); // this is loaded last
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports = { plan, nowUs, ready, granted, work, saturate, timeEach, end, sleep };
