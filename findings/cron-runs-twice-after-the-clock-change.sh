#!/usr/bin/env bash
# Package: cron, 4.4.0
# Behavior: In the night that has an hour twice, a daily job set for the hour right after runs twice, once an hour early and once at its time, while a job set for the repeated hour runs once.
# Seen: in Europe/Berlin on 25 October 2026, a job for 03:00 ran at 02:00 and at 03:00 (both CET), and a job for 02:30 once
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund cron@4.4.0

# The timers and the clock of Node's own test module let four days pass at once.
cat >nights.mjs <<'END'
import { mock } from 'node:test';
import { CronJob } from 'cron';
mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-10-23T12:00:00Z') });
const timeZone = 'Europe/Berlin';
const runs = [];
const jobs = ['30 2 * * *', '0 3 * * *'].map((cronTime) =>
  CronJob.from({ cronTime, timeZone, start: true, onTick: () => runs.push(`${cronTime}  ${new Date().toISOString()}`) }),
);
for (let minute = 0; minute < 4 * 24 * 60; minute += 1) mock.timers.tick(60_000);
for (const job of jobs) job.stop();
console.log(runs.sort().join('\n'));
END
NODE_NO_WARNINGS=1 node nights.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
0 3 * * *  2026-10-24T01:00:00.000Z
0 3 * * *  2026-10-25T01:00:00.000Z
0 3 * * *  2026-10-25T02:00:00.000Z
0 3 * * *  2026-10-26T02:00:00.000Z
0 3 * * *  2026-10-27T02:00:00.000Z
30 2 * * *  2026-10-24T00:30:00.000Z
30 2 * * *  2026-10-25T00:30:00.000Z
30 2 * * *  2026-10-26T01:30:00.000Z
30 2 * * *  2026-10-27T01:30:00.000Z
END
diff expected.txt seen.txt
