import fs from 'node:fs';
import { Readable, Writable } from 'node:stream';
import type { Clock, System } from '../../../../src/base/system.ts';

/** Returns a clock that each sleep advances without waiting; `onSleep` runs at each sleep. */
export function fakeClock(onSleep: () => void = () => {}): Clock & { slept: number } {
  const clock = {
    slept: 0,
    now: () => Date.UTC(2026, 0, 1) + clock.slept,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      clock.slept += ms;
      onSleep();
    },
  };
  return clock;
}

/** Returns a Linux process with the home `/home/op` and an empty environment. */
export function testSystem(parts: Partial<System> = {}): System {
  return {
    env: {},
    platform: 'linux',
    home: '/nonexistent/home/op',
    cwd: '/',
    pid: process.pid,
    nodeVersion: process.versions.node,
    stdin: Readable.from([]),
    stdout: nowhere(),
    stderr: nowhere(),
    clock: fakeClock(),
    signal: new AbortController().signal,
    isAlive: (pid) => pid === process.pid,
    ...parts,
  };
}

/** Returns the permission bits of a file, such as `600`. */
export function modeOf(file: string): string {
  return (fs.statSync(file).mode & 0o7777).toString(8);
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
