import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/** An output stream of the process: a terminal, a pipe or a file. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(data: string | Uint8Array, taken: (error?: Error | null) => void): unknown;
  /** An error may come between two writes. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The input stream of the process. */
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  /** The descriptor, where the input is a file of the process. */
  readonly fd?: number;
  setRawMode?(on: boolean): unknown;
};

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a switch such as the variable CI is on: set to anything but an empty text, 0 or false. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value);
}

/**
 * Variables that coding agents set for their commands: a variable of several agents, then the variables of Claude Code, Codex,
 * Cursor and Gemini CLI.
 */
const AGENT_VARIABLES = ['AI_AGENT', 'CLAUDECODE', 'CODEX_THREAD_ID', 'CURSOR_AGENT', 'GEMINI_CLI'] as const;

/** Whether a coding agent runs this command. */
export function isUnderAgent(env: Environment): boolean {
  return AGENT_VARIABLES.some((name) => isOn(env[name]));
}

/** Whether svc runs in CI or under an agent, so that nobody answers questions even on a terminal. */
export function isUnattended(env: Environment): boolean {
  return isOn(env['CI']) || isUnderAgent(env);
}

/** Everything that the tool needs from its process. `src/process.ts` provides the real one, tests their own. */
export interface System {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Home directory, or undefined where there is none. */
  readonly home: string | undefined;
  readonly cwd: string;
  readonly pid: number;
  /** Returns the account that runs the process. The system may lack a name, and Windows has no numbers. */
  account?(): { readonly name?: string | undefined; readonly uid?: number | undefined };
  /** Set if this program was started by its second name, as on machines where `svc` is another program. */
  readonly program?: 'svc-cli' | undefined;
  /** Node's version, without the leading v. */
  readonly nodeVersion: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Whether standard output was closed when the process began (`>&-`), so that all output is lost. */
  isOutputClosed?(): boolean;
  readonly clock: Clock;
  /** Aborts with an `SvcError` (`hangup`, `interrupted`, `terminated`) when a signal asks the process to end. */
  readonly signal: AbortSignal;
  /** Configures V8 for requests and long work. Short commands skip this. */
  prepareForWork?(): void;
  /** Gives the terminal to another program until `over` settles. Ctrl-C is then for that program. */
  yieldTerminal?(over: Promise<unknown>): void;
  /** Whether a process of this machine is alive, for locks. */
  isAlive(pid: number): boolean;
}

/** The clock: real in the process, moved by hand in tests. All values are in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Whether the event loop was busy almost all the time since the last call. */
  isBusy?(): boolean;
}

/** The longest single pause that a service or store may request, unless the operator allows more. */
export const DEFAULT_MAX_WAIT_MS = 90_000;

// A timer over 24.8 days fires at once, so a longer sleep consists of several timers.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), sleep, isBusy };

let lastUtilization = { idle: 0, active: 0, utilization: 0 };

function isBusy(): boolean {
  const before = lastUtilization;
  lastUtilization = performance.eventLoopUtilization();
  return performance.eventLoopUtilization(lastUtilization, before).utilization > 0.9;
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= MAX_TIMER_MS) {
    const over = setTimeout(Math.min(left, MAX_TIMER_MS), undefined, { signal });
    // Node rejects with its own error instead of the signal's reason.
    await over.catch(() => signal?.throwIfAborted());
  }
}

/** Returns the first word of printed commands: the name by which this program was started. */
export function programName({ program }: Pick<System, 'program'>): string {
  return program ?? 'svc';
}

/** Replaces `svc` in the commands of a text by the name of the program. Names of files and variables stay. */
export function withProgramName(text: string, system: Pick<System, 'program'>): string {
  return text.replaceAll(/(?<![\w./~$-])svc(?= [\w<'"-])/g, programName(system));
}
