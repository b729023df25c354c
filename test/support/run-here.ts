import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/system.ts';
import { startSandbox } from '../../src/emulator/server.ts';
import { main } from '../../src/main.ts';
import { FakeClock } from './clock.ts';

/** The key that the tool is given: no output may hold it. */
export const KEY = 'key_canary7Qz4Xw91Lm';

/** How a run in this process goes. */
export interface HereOptions {
  /** The service; a scripted one has no rate limits. */
  readonly baseUrl?: URL;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Where relative paths begin; a directory of its own by default. */
  readonly cwd?: string;
  /** By default pauses take no time. */
  readonly clock?: Clock;
  /** An empty one that goes when the test ends by default. */
  readonly home?: string;
  /** In place of a stream that keeps what is written. */
  readonly stdout?: Writable;
  /** Linux by default. */
  readonly platform?: NodeJS.Platform;
  /** Aborts as a signal to the process would. */
  readonly signal?: AbortSignal;
}

/** What a run left behind. */
export interface HereResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process with streams that are no terminal. */
export async function svcHere(argv: readonly string[], options: HereOptions = {}): Promise<HereResult> {
  const home = options.home ?? temporaryHome();
  const stdout = new Kept();
  const stderr = new Kept();
  const { baseUrl, env, input, cwd = home, clock = new FakeClock() } = options;
  const { signal = new AbortController().signal } = options;
  const service = baseUrl === undefined ? {} : { SVC_BASE_URL: baseUrl.href, SVC_API_KEY: KEY, SVC_PACING: 'off' };
  const code = await main(argv, {
    env: { HOME: home, LANG: 'C.UTF-8', ...service, ...env },
    platform: options.platform ?? 'linux',
    home,
    cwd,
    pid: process.pid,
    nodeVersion: process.versions.node,
    stdin: input === undefined ? new PassThrough().end() : Readable.from([Buffer.from(input)]),
    stdout: options.stdout ?? stdout,
    stderr,
    clock,
    signal,
    isAlive: () => true,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'svc-here-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** The error object that a run in a machine format left on stderr, its last line. */
export function errorIn({ stderr }: Pick<HereResult, 'stderr'>): Record<string, unknown> {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

/** A fresh sandbox on a port of its own, as options for runs; it goes when the test ends. */
export async function startSandboxHere(): Promise<Required<Pick<HereOptions, 'baseUrl' | 'env'>>> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-sandbox-'));
  const sandbox = await startSandbox({ directory });
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(directory, { recursive: true, force: true });
  });
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
