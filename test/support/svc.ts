import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './directory.ts';

/** The launcher of the built tool. */
export const LAUNCHER = fileURLToPath(new URL('../../bin/svc.js', import.meta.url));

/** The outcome of a run of the tool. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The options of a run of the tool. */
export interface JobOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the tool without root's right to write where file modes forbid it; see {@link CAN_OBEY_MODES}. */
  readonly obeysModes?: boolean;
  /** A program, with its arguments, that starts the tool. */
  readonly under?: readonly string[];
  /** Written to standard input, which is then closed. */
  readonly input?: string | Uint8Array;
}

const IS_ROOT = process.getuid?.() === 0;

/** Whether the tests can start a process that file modes bind; root needs a program for that. */
export const CAN_OBEY_MODES = !IS_ROOT || existsSync('/usr/bin/setpriv');

// Root stays the owner of its files, but loses the right to bypass their modes.
const WITHOUT_OVERRIDE = ['/usr/bin/setpriv', '--bounding-set=-dac_override,-dac_read_search'];

/** An empty home directory in which the tool runs, without the variables of this process. */
export class Home {
  readonly path = temporaryDirectory();

  /** Runs the tool to its end. */
  async svc(argv: readonly string[], options: JobOptions = {}): Promise<Finished> {
    const child = this.start(argv, options);
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    return finished(child);
  }

  /** Starts the tool and leaves it running; its input stays open. */
  start(
    argv: readonly string[],
    options: Pick<JobOptions, 'env' | 'obeysModes' | 'under'> = {},
  ): ChildProcessByStdio<Writable, Readable, Readable> {
    const before = options.obeysModes === true && IS_ROOT ? WITHOUT_OVERRIDE : (options.under ?? []);
    const [program = '', ...words] = [...before, process.execPath, LAUNCHER, ...argv];
    return spawn(program, words, {
      cwd: this.path,
      env: this.environment(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Returns the environment variables of the tool. */
  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { HOME: this.path, PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...more };
  }

  file(name: string): string {
    return join(this.path, name);
  }
}

/** Resolves once a process has ended and all its output is read. */
export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Tells whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
