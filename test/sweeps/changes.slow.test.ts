import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';
import { temporaryDirectory } from '../support/directory.ts';

const commands = (await allCommands()).map(({ words, command }) => [words, command.changes ?? false] as const);
/** Command lines that change something at the service, for commands whose usual line does not. */
const CHANGING: Readonly<Record<string, string>> = {
  api: 'api POST /account-updater/jobs',
  // Goes on with the upload of a job without its file.
  'au resume': 'au resume',
};
const home = temporaryDirectory();
const dirs = { SVC_CONFIG_DIR: join(home, 'config'), SVC_CACHE_DIR: join(home, 'cache') };
/** An environment whose profile has keys and is known to belong to a production tenant. */
const env = { ...dirs, SVC_PROFILE: 'prod', SVC_MANAGEMENT_API_KEY: '', SVC_PRIVATE_API_KEY: '' };
let world: World;

beforeAll(async () => {
  world = await World.prepare();
  await world.copy(async (run) => {
    for (const kind of ['management', 'private']) {
      const argv = ['login', '--base-url', world.url, `--${kind}-key-stdin`, '--profile', 'prod'];
      const options = { argv, env: { ...env, SVC_PROFILE: '' }, input: `sandbox-${kind}-key\n` };
      await run('login', [], options);
    }
  });
  const facts = join(dirs.SVC_CACHE_DIR, 'known-keys.json');
  writeFileSync(facts, readFileSync(facts, 'utf8').replace('"type":"test"', '"type":"production"'));
});
afterAll(() => world.close());

/** Tells whether a request changes something at the service. Forwarded events and sandbox controls do not count. */
function isChange(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !/^\/(?:hooks|sandbox)\b/.test(path);
}

/** Commands that send only to the store, whose requests this test does not count. */
const UNSEEN = new Set(['au upload', 'au resume']);

it.each(commands)(
  'the mark of the tenant stands on stderr of svc %s exactly when it changes something at the service',
  async (words, changes) => {
    const argv = CHANGING[words]?.split(' ');
    const before = world.requests.length;
    const { stderr } = await world.run(words, [], { env, ...(argv && { argv }) });
    // The commands of `tenant` have just read the real tenant, which is a test tenant.
    const mark = words.startsWith('tenant ') ? 'TEST ' : 'PRODUCTION ';
    const sent = world.requests.slice(before).filter(({ method, path }) => isChange(method, path));
    expect({ words, changes: sent.length > 0 || UNSEEN.has(words), marked: stderr.includes(mark) }).toEqual({
      words,
      changes,
      marked: changes,
    });
  },
);
