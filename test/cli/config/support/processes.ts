import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { afterAll, beforeAll } from 'vitest';
import { type Finished, finished } from '../../../support/svc.ts';

/** Functions that run child.ts as a separate process. */
export interface Children {
  run(words: readonly string[], options?: JobOptions): Promise<Finished>;
  start(words: readonly string[], options?: JobOptions): ChildProcess;
}

/** Options of a child. sh runs `shell` before it, such as `umask 000`. `uid` is its user, which only root can set. */
export interface JobOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly uid?: number;
}

/** Bundles child.ts for the tests of this file: the oldest Node that is supported does not run TypeScript. */
export function bundledChildren(): Children {
  let directory = '';
  beforeAll(async () => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-child-'));
    fs.chmodSync(directory, 0o755);
    await build({
      input: fileURLToPath(new URL('child.ts', import.meta.url)),
      platform: 'node',
      resolve: { mainFields: ['module', 'main'] },
      logLevel: 'silent',
      output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
    });
  });
  afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

  const start: Children['start'] = (words, { env = {}, shell, uid } = {}) => {
    const command = [process.execPath, path.join(directory, 'child.mjs'), ...words];
    const [file = '', ...args] = shell === undefined ? command : ['sh', '-c', `${shell}; exec "$@"`, 'sh', ...command];
    return spawn(file, args, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
  };
  return { start, run: (words, options) => finished(start(words, options)) };
}
