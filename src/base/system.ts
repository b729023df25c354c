import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/** An output stream as the process has it: a terminal, a pipe or a file. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(data: string | Uint8Array, taken: (error?: Error | null) => void): unknown;
  /** An error may come between two writes. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The input stream as the process has it. */
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a variable that switches something on, such as CI, does: not where it is empty, 0 or false. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value);
}

/** Everything that the tool takes from its process. `src/process.ts` makes the real one, tests make their own. */
export interface System {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Home directory, or undefined where there is none. */
  readonly home: string | undefined;
  readonly cwd: string;
  readonly pid: number;
  /** Node's version, without the leading v. */
  readonly nodeVersion: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  /** Aborts with an `SvcError` (`hangup`, `interrupted`, `terminated`) when a signal asks the process to end. */
  readonly signal: AbortSignal;
  /** Sets V8 up for requests and long work. What is over soon does without, which saves it 2 ms. */
  prepareForWork?(): void;
  /** Until `over` settles another program has the terminal: a second Ctrl-C is meant for it, and ends nothing here. */
  yieldTerminal?(over: Promise<unknown>): void;
  /** Tells whether a process of this machine is alive (for locks). */
  isAlive(pid: number): boolean;
}

/** Time as the tool sees it: real in the process, moved by hand in tests. All values in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Whether the process has had hardly a pause since this was last asked. */
  isBusy?(): boolean;
}

/** Longest single pause that a service or a store may ask for, unless the operator says otherwise. */
export const DEFAULT_MAX_WAIT_MS = 90_000;

// A timer over 24.8 days fires at once, so a long sleep is taken in slices.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), sleep, isBusy };

let asked = { idle: 0, active: 0, utilization: 0 };

function isBusy(): boolean {
  const before = asked;
  asked = performance.eventLoopUtilization();
  return performance.eventLoopUtilization(asked, before).utilization > 0.9;
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    const over = setTimeout(Math.min(left, LONGEST_TIMER_MS), undefined, { signal });
    // Only the signal ends it early, and not with its reason.
    await over.catch(() => signal?.throwIfAborted());
  }
}
