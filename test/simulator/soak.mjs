/** Runs all tests with more cases, and each kind of history for some minutes: `npm run soak -- --minutes 30`. */

import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const env = { ...process.env, SOAK: '1', SOAK_MINUTES: values.minutes };
const { status } = spawnSync('npx', ['vitest', 'run', '--maxWorkers', '4', ...positionals], { stdio: 'inherit', env });
process.exitCode = status ?? 1;
