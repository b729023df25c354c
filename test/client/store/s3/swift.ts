import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('swift-server.py', import.meta.url));
// Debian's Python, because another one on the path does not have Debian's packages.
const PYTHON = '/usr/bin/python3';

/** An independent S3-compatible server, which checks signatures. */
export interface Swift {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Whether Debian's package python3-swift is installed. */
export const hasSwift =
  spawnSync(PYTHON, ['-c', 'import swift.common.middleware.s3api.s3api, swift.obj.server']).status === 0;

/** Starts OpenStack Swift on a free port, with its data in an empty directory. */
export async function startSwift(directory: string): Promise<Swift> {
  const secretAccessKey = 'testing-secret';
  const child = spawn(PYTHON, [SERVER, directory, 'tester', secretAccessKey], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    void ended.then(() => reject(new Error(`Swift did not start: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    accessKeyId: 'test:tester',
    secretAccessKey,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
