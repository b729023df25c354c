import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../../../src/base/errors.ts';
import { withLock } from '../../../../src/base/files/lock.ts';
import { thisHost } from '../../../../src/base/files/lock-owner.ts';
import { type Clock, type System, systemClock } from '../../../../src/base/system.ts';
import { readConfig, updateConfig } from '../../../../src/cli/config/config-file.ts';

// The tests start many processes from this file at once, and kill some of them.

const system: System = {
  env: process.env,
  platform: process.platform,
  home: process.env['HOME'],
  cwd: process.cwd(),
  pid: process.pid,
  nodeVersion: process.versions.node,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  signal: new AbortController().signal,
  isAlive: (pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  },
};

// Processes that do not pause compete for the lock far more often.
const restless: Clock = { ...systemClock, sleep: () => new Promise((resolve) => setImmediate(resolve)) };

type Action = (...words: string[]) => unknown;

const ACTIONS: Record<string, Action> = {
  read: () => readConfig(system),
  add: (name = '', base = 'https://api.example.com') =>
    updateConfig(system, (config) => {
      config.profiles[name] = { base_url: base };
    }),
  count: async (prefix = '', times = '0') => {
    for (let round = 0; round < Number(times); round++)
      await updateConfig(system, (config) => {
        config.profiles[`${prefix}-${round}`] = {};
        Object.assign(config, { total: Number('total' in config ? config.total : 0) + 1 });
      });
  },
  // Writes configs forever. Each contains the hash of its filler, so that a reader notices a mixture of two.
  churn: async (bytes = '100000') => {
    for (;;) {
      const filler = randomBytes(Number(bytes) / 2).toString('hex');
      const hash = createHash('sha256').update(filler).digest('hex');
      await updateConfig(system, (config) => void Object.assign(config, { filler, hash }));
      process.stdout.write('.');
    }
  },
  // Takes the lock repeatedly, and sometimes leaves it as a killed process would. mkdir fails when two are inside.
  contend: async (directory = '', rounds = '0') => {
    const lock = path.join(directory, 'lock');
    fs.writeFileSync(path.join(directory, `ready-${process.pid}`), '');
    while (fs.readdirSync(directory).filter((name) => name.startsWith('ready-')).length < 4) await systemClock.sleep(1);
    for (let round = 0; round < Number(rounds); round++)
      await withLock(
        lock,
        { ...system, clock: restless },
        () => {
          fs.mkdirSync(path.join(directory, 'inside'));
          fs.appendFileSync(path.join(directory, 'entries'), '.');
          fs.rmdirSync(path.join(directory, 'inside'));
          if (Math.random() < 0.5) leaveDead(lock);
        },
        { waitMs: Infinity },
      );
  },
};

function leaveDead(lock: string): void {
  const token = randomBytes(8).toString('hex');
  const dead = { pid: 2 ** 30, token, since: new Date().toISOString(), place: thisHost() };
  fs.writeFileSync(`${lock}-${token}`, JSON.stringify(dead));
  fs.renameSync(`${lock}-${token}`, lock);
}

const [action = '', ...words] = process.argv.slice(2);
try {
  const result = await ACTIONS[action]?.(...words);
  process.stdout.write(`${JSON.stringify(result ?? null)}\n`);
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  process.stderr.write(`${JSON.stringify({ code: error.code, message: error.message, hint: error.hint })}\n`);
  process.exitCode = error.exitCode;
}
