// What goes into a standalone executable: the built files, and what V8 compiled of them in a few runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { built, project, run } from './release.mjs';

/** What V8's caches are made for: a start, lists, requests over a socket, and the embedded sandbox. */
const TRAINING = [
  ['--version'],
  ['--help'],
  ['profile', 'list'],
  ['tenant', 'show'],
  ['logs', '--limit', '2'],
  ['--sandbox', 'tenant', 'show'],
];

/**
 * Names of assets and their files. Files that the training loaded go in as they are, each with V8's cache; the others
 * are compressed. A cache fits the platform and the version of Node that made it: for others, leave the caches out.
 */
export async function makeAssets(node, scratch) {
  const caches = await train(node, scratch);
  const [files, cached] = [{}, {}];
  for (const name of readdirSync(built).filter((each) => each.endsWith('.cjs'))) {
    const source = join(built, name);
    const cache = `${name}.cache`;
    if (caches.has(cache)) {
      files[name] = source;
      cached[cache] = caches.get(cache);
    } else {
      files[`${name}.br`] = join(scratch, `${name}.br`);
      writeFileSync(files[`${name}.br`], brotliCompressSync(readFileSync(source)));
    }
  }
  return { files, caches: cached };
}

async function train(node, scratch) {
  const [directory, home] = ['caches', 'home'].map((name) => join(scratch, name));
  for (const each of [directory, home]) mkdirSync(each);
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home };
  const sandbox = await startSandbox(node, env);
  try {
    const keys = { SVC_BASE_URL: sandbox.url, SVC_MANAGEMENT_API_KEY: sandbox.key };
    for (const args of TRAINING) {
      const command = ['--random-seed=1', join(project, '.release/train.cjs'), built, directory, ...args];
      run(node, command, { env: { ...env, ...keys }, stdio: 'pipe' });
    }
  } finally {
    await sandbox.stop();
  }
  return new Map(readdirSync(directory).map((name) => [name, join(directory, name)]));
}

async function startSandbox(node, env) {
  const args = [join(built, 'svc.cjs'), 'sandbox', 'start', '--port', '0', '-o', 'json'];
  const child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  let text = '';
  for await (const part of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.trimEnd().endsWith('}')) break;
  }
  const { url, management_key: key } = JSON.parse(text);
  const stop = () => {
    child.kill();
    return ended;
  };
  return { url, key, stop };
}
