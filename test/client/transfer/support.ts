import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { LockHost } from '../../../src/base/files/lock.ts';
import { FILE_LIMITS, type TimeLimits } from '../../../src/client/http/watchdog.ts';
import { createTransport, type Transport } from '../../../src/client/http/transport.ts';
import { FakeClock } from '../../support/clock.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { SIGNATURE, startFaultStore, type StoreScript } from '../../support/fault-store.ts';
import { isAlive } from '../../support/svc.ts';

/** Starts a store that is closed after the test. */
export async function store(script: StoreScript): Promise<FaultServer> {
  const started = await startFaultStore(script);
  onTestFinished(() => started.close());
  return started;
}

/** Creates a transport that is closed after the test. */
export function transport(): Transport {
  const made = createTransport();
  onTestFinished(() => made.close());
  return made;
}

/** Returns a clock that records its sleeps, which take no time. */
export function instantClock(): FakeClock {
  return new FakeClock({ start: Date.now(), runs: true });
}

/** Limits that end a test which hangs by mistake, with room for a busy machine. */
export const SHORT: TimeLimits = { ...FILE_LIMITS, connect: 60_000, headers: 60_000, idle: 60_000 };

/** Limits for stores that hang by design once they are connected. */
export const TINY: TimeLimits = { ...SHORT, headers: 60, idle: 60 };

/** Returns bytes in which no sequence repeats. */
export function content(size: number, start = 1): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0, seed = start; at < size; at += 4) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    if (at + 4 <= size) bytes.writeUInt32LE(seed, at);
  }
  return bytes;
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the error of a promise, after checking that it does not show the signature of an address (R06). */
export async function failure(promise: Promise<unknown>): Promise<SvcError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError but ${String(error)}`, { cause: error });
  for (let part: unknown = error; part instanceof Error; part = part.cause) {
    const shown = inspect(part, { depth: 9, showHidden: true });
    if (shown.includes(SIGNATURE)) throw new Error('the signature shows');
  }
  return error;
}

/** Returns the process as a download sees it. */
export function host(signal: AbortSignal = new AbortController().signal): LockHost & { readonly slept: number[] } {
  const clock = instantClock();
  return { pid: process.pid, isAlive, clock, signal, slept: clock.slept };
}
