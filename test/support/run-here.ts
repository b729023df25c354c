import { userInfo } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/system.ts';
import type { SandboxOptions } from '../../src/emulator/options.ts';
import { main } from '../../src/main.ts';
import { FakeClock } from './clock.ts';
import { startSandbox } from './sandbox.ts';
import { temporaryDirectory } from './directory.ts';

/** The key that every run gets; no output may contain it. */
export const KEY = 'key_canary7Qz4Xw91Lm';

/** The options of a run in this process. */
export interface HereOptions {
  /** The base URL of the service, to which requests go out without pacing. */
  readonly baseUrl?: URL;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array | Readable;
  /** The working directory of the run; by default the home directory that is given, or that of the test. */
  readonly cwd?: string;
  /** The clock of the run; by default one on which pauses take no time. */
  readonly clock?: Clock;
  /** The account that runs the tool; by default the one that runs the test. */
  readonly account?: { readonly name?: string; readonly uid?: number };
  /** The home directory; by default an empty one that is removed when the test ends. */
  readonly home?: string;
  /** The width of the terminal that the run believes to print to; by default it prints to none. */
  readonly columns?: number | undefined;
  /** Replaces the stream that collects the output. */
  readonly stdout?: Writable;
  /** The platform that the run believes it is on; Linux by default. */
  readonly platform?: NodeJS.Platform;
  /** Aborts as a signal to the process would. */
  readonly signal?: AbortSignal;
  /** Whether another process is alive; by default each is. */
  readonly isAlive?: (pid: number) => boolean;
}

/** The outcome of a run. */
export interface HereResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The number of files that the store had when the run ended, where the place of the run counts them. */
  readonly uploads?: number;
}

/** What a run did, besides the code that it ended with. */
interface Ending {
  readonly uploads?: number | undefined;
  readonly stdout?: unknown;
  readonly stderr?: unknown;
  /** Members of the object that it printed. */
  readonly row?: object;
  /** Members of the error that it ended with, in a machine format. */
  readonly error?: object;
  /** What it did not write to stderr. */
  readonly unsaid?: string | RegExp | readonly (string | RegExp)[];
}

/** Runs a command line in this process. Its input is no terminal. */
export async function svcHere(argv: readonly string[], options: HereOptions = {}): Promise<HereResult> {
  const home = options.home ?? temporaryDirectory();
  const terminal = options.columns === undefined ? {} : { isTTY: true, columns: options.columns };
  const stdout = Object.assign(new Kept(), terminal);
  const stderr = Object.assign(new Kept(), terminal);
  const { baseUrl, env, input, cwd = options.home ?? process.cwd(), clock = new FakeClock() } = options;
  const { signal = new AbortController().signal } = options;
  const service = baseUrl === undefined ? {} : { SVC_BASE_URL: baseUrl.href, SVC_API_KEY: KEY, SVC_PACING: 'off' };
  const code = await main(argv, {
    env: { HOME: home, LANG: 'C.UTF-8', ...service, ...env },
    platform: options.platform ?? 'linux',
    home,
    cwd,
    pid: process.pid,
    account: () => options.account ?? { name: userInfo().username },
    nodeVersion: process.versions.node,
    stdin: input instanceof Readable ? input : Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: options.stdout ?? stdout,
    stderr,
    clock,
    signal,
    isAlive: options.isAlive ?? (() => true),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Like `svcHere`, with a directory as home and as working directory, from which the tool resolves relative paths. */
export async function svcIn(
  directory: string,
  argv: readonly string[],
  options: HereOptions = {},
): Promise<HereResult> {
  const before = process.cwd();
  process.chdir(directory);
  try {
    return await svcHere(argv, { home: directory, ...options });
  } finally {
    process.chdir(before);
  }
}

/** Returns the error object that a run in a machine format wrote to stderr as its last line. */
export function errorIn({ stderr }: Pick<HereResult, 'stderr'>): Record<string, unknown> {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

/** Returns a run that ended with 0. Fails for any other, and shows what that wrote to stderr. */
export function succeeded<T extends { readonly code: number | null; readonly stderr: string }>(run: T): T {
  expect(run.code, run.stderr).toBe(0);
  return run;
}

/**
 * Returns a run that ended with this code, wrote these texts to stderr and did what else is expected of it. Fails for any other
 * run, and shows what that wrote to stderr.
 */
export function ended<T extends Omit<HereResult, 'code'> & { readonly code: number | null }>(
  run: T,
  code: number,
  ...expected: readonly (string | RegExp | Ending | undefined)[]
): T {
  expect(run.code, run.stderr).toBe(code);
  for (const each of expected) {
    if (each === undefined) throw new Error('the expected text is undefined');
    if (typeof each === 'string' || each instanceof RegExp) {
      expect(run.stderr).toMatch(each);
      continue;
    }
    const { row, error, unsaid = [], ...rest } = each;
    expect(run, run.stderr).toMatchObject(rest);
    if (row !== undefined) expect(JSON.parse(run.stdout), run.stderr).toMatchObject(row);
    if (error !== undefined) expect(errorIn(run)).toMatchObject(error);
    for (const text of [unsaid].flat()) expect(run.stderr).not.toMatch(text);
  }
  return run;
}

/** Returns the object that a run printed. Fails unless the run ended with 0. */
export function rowOf(run: HereResult): Record<string, unknown> {
  return JSON.parse(succeeded(run).stdout) as Record<string, unknown>;
}

/** Returns the objects that a command printed, one a line. */
export function rowsIn<T = Record<string, unknown>>(stdout: string): T[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as T);
}

/** Starts a fresh sandbox, which ends with the test, and returns the options of a run against it. */
export async function startSandboxHere(
  options: Omit<SandboxOptions, 'directory'> = {},
): Promise<Required<Pick<HereOptions, 'baseUrl' | 'env'>>> {
  const directory = temporaryDirectory();
  const sandbox = await startSandbox({ directory, ...options });
  onTestFinished(() => sandbox.close());
  const env = {
    SVC_API_KEY: '',
    SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  };
  return { baseUrl: new URL(sandbox.url), env };
}

class Kept extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.text += String(chunk);
    taken();
  }
}
