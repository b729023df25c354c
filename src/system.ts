import type { Readable, Writable } from 'node:stream';
import type { Clock } from './clock.ts';

/** An output stream as the process has it: a terminal, a pipe or a file. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The input stream as the process has it. */
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
  /** Until `over` settles another program has the terminal: a second Ctrl-C is meant for it, and ends nothing here. */
  yieldTerminal?(over: Promise<unknown>): void;
  /** Tells whether a process of this machine is alive (for locks). */
  isAlive(pid: number): boolean;
}
