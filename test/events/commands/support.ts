import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { finished, type Finished, type Home } from '../../support/svc.ts';
import { rowsIn } from '../../support/run-here.ts';

/** A listener that runs in a separate process. */
export interface RunningListener {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Finished>;
  stdout(): string;
  stderr(): string;
  /** Returns the lines of data as objects. */
  rows(): Record<string, unknown>[];
}

/** Starts the listener on a free port and waits until it listens. */
export async function startListener(
  home: Home,
  argv: readonly string[] = [],
  env?: Readonly<Record<string, string>>,
): Promise<RunningListener> {
  const child = home.start(['events', 'listen', '--port', '0', ...argv], { env: env ?? {} });
  let stdout = '';
  let stderr = '';
  const ended = finished(child);
  child.stdout.on('data', (text: string) => {
    stdout += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (text: string) => {
      stderr += text;
      const found = /listening on (http:\/\/\S+?)[,;]/.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('close', () => reject(new Error(`it ended: ${stderr}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    rows: () => rowsIn(stdout),
  };
}
