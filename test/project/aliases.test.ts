import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { serve } from '../support/fault-server.ts';
import { json } from '../support/fault-steps.ts';
import { temporaryDirectory } from '../support/directory.ts';

const require = createRequire(import.meta.url);
const bundle = new URL('../../dist/cli/', import.meta.url);

it('the module aliases of the bundle give the very classes that undici exports', () => {
  const whole = require('undici') as Record<string, unknown>;
  expect(require('undici/lib/dispatcher/client.js')).toBe(whole['Client']);
  expect(require('undici/lib/core/connect.js')).toBe(whole['buildConnector']);
});

it('the module aliases of the bundle keep what they leave out of the bundle', () => {
  const chunks = readdirSync(bundle).filter((name) => name.endsWith('.cjs'));
  const text = chunks.map((name) => readFileSync(new URL(name, bundle), 'utf8')).join('\n');
  expect(text).toContain('UND_ERR_SOCKET');
  expect(text).not.toMatch(/require\([`'"]node:http2[`'"]\)/);
  expect(text).not.toMatch(/MockAgent|WebSocketStream|EnvHttpProxyAgent/);
  // What builds bodies of forms is in a file that no request loads.
  const forms = chunks.filter((name) => readFileSync(new URL(name, bundle), 'utf8').includes('ByteString'));
  expect(forms).toEqual([expect.stringMatching(/^forms-/)]);
});

it.each([
  ['', 8],
  ['--max-http-header-size=65536', 0],
])('the largest head of a response is that of Node with NODE_OPTIONS=%s', async (options, exitCode) => {
  const tenant = { id: '1', owner_id: '1', type: 'test', name: 'A', settings: {} };
  const { url } = await serve([json(tenant, 200, { 'x-long': 'a'.repeat(20_000) })]);
  const home = temporaryDirectory();
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    SVC_BASE_URL: url.href,
    SVC_MANAGEMENT_API_KEY: 'a-management-key',
  };
  const argv = [fileURLToPath(new URL('svc.cjs', bundle)), 'tenant', 'show'];
  const child = execFile(process.execPath, argv, { env: { ...env, NODE_OPTIONS: options } });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(exitCode);
});

it('the files of the bundle are never loaded by import(), for which the standalone executable has no loader', () => {
  const chunks = readdirSync(bundle).filter((name) => name.endsWith('.cjs'));
  const importing = chunks.filter((name) => /[^.\w$]import\(/.test(readFileSync(new URL(name, bundle), 'utf8')));
  expect(importing).toEqual([]);
});

it('the files of the bundle do not need each other in a circle, in which one would run before what it needs', () => {
  const chunks = readdirSync(bundle).filter((name) => name.endsWith('.cjs'));
  const needs = new Map(chunks.map((name) => [name, requiredAtOnce(name)]));
  // Each round removes the chunks that need no remaining chunk, until only circles are left.
  for (;;) {
    const free = [...needs].filter(([, names]) => names.every((name) => !needs.has(name)));
    if (free.length === 0) break;
    for (const [name] of free) needs.delete(name);
  }
  expect([...needs.keys()]).toEqual([]);
});

/** Returns the chunks that a chunk requires before it runs. It requires others later, within a `Promise`. */
function requiredAtOnce(chunk: string): string[] {
  const text = readFileSync(new URL(chunk, bundle), 'utf8');
  return [...text.matchAll(/(?:[;=,]|^)require\([`'"]\.\/([^`'"]+)[`'"]\)/gm)].map(([, name = '']) => name);
}

const COSTLY = new Set('child_process crypto dgram fs/promises net readline stream tty v8 worker_threads'.split(' '));

const lines = ['--version', '--help', '__complete fish logs --', 'profile list'];
it.each(lines)("Node's own modules are not loaded by svc %s", (line) => {
  const home = temporaryDirectory();
  const told = join(home, 'told');
  // The output goes to a file: writing to a socket, as a child of Node does by default, loads some of these modules.
  const file = openSync(told, 'w');
  const env = { HOME: home, PATH: process.env['PATH'] };
  const code = `const { writeSync } = require('node:fs');
      process.on('exit', () => writeSync(2, '\\nLOADED ' + process.moduleLoadList.join()));
      process.argv.splice(1, 0, '');
      require(${JSON.stringify(fileURLToPath(new URL('svc.cjs', bundle)))});`;
  const { status } = spawnSync(process.execPath, ['-e', code, '--', ...line.split(' ')], {
    env,
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  const loaded = readFileSync(told, 'utf8').split('LOADED ')[1] ?? '';
  expect({ status, some: loaded.includes('NativeModule fs') }).toEqual({ status: 0, some: true });
  expect(loaded.split(',').filter((name) => COSTLY.has(name.replace('NativeModule ', '')))).toEqual([]);
});
