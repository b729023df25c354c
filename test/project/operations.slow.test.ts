import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { exampleRequestFile, sandboxCards } from '../../src/emulator/vault/cards.ts';
import { FakeClock } from '../support/clock.ts';
import { svcIn } from '../support/run-here.ts';
import { startSandbox } from '../support/sandbox.ts';
import { Home } from '../support/svc.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');

/** The rows of the table in docs that name an operation on the wire: method and path, and the commands. */
const OPERATIONS = [...page.matchAll(/^\| `([A-Z]+) ([^`]+)` \| (.+?) \|/gm)].map(
  ([, method = '', path = '', commands = '']) => ({
    method,
    path,
    commands: [...commands.matchAll(/`svc ([^`]+)`/g)].map(([, words = '']) => words),
  }),
);

const home = new Home();
let sandbox: RunningSandbox;
const ids: Record<string, string> = {};

beforeAll(async () => {
  sandbox = await startSandbox({ directory: home.file('sandbox'), processingMs: 0, pickupMs: 0 });
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  writeFileSync(home.file('upload.csv'), `${exampleRequestFile().split('\n')[0]}\nanother,,,\n`);
  const template = await svc('3ds template payment-transaction -o json');
  writeFileSync(home.file('body.json'), template);
  ids['job'] = (JSON.parse(await svc('au create -o json')) as { id: string }).id;
  ids['done'] = (JSON.parse(await svc('au submit tokens.csv --wait --out first.csv -o json')) as { job: string }).job;
  ids['session'] = (
    JSON.parse(await svc(`3ds create --token ${sandboxCards()[0]?.token ?? ''} --type customer -o json`)) as {
      id: string;
    }
  ).id;
});

afterAll(() => sandbox.close());

async function svc(line: string): Promise<string> {
  const env = {
    SVC_BASE_URL: sandbox.url,
    SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  };
  const clock = new FakeClock({ start: Date.now(), runs: true });
  const { code, stdout, stderr } = await svcIn(home.path, line.split(' '), { env, clock });
  if (code !== 0) throw new Error(`svc ${line} ended with ${code}: ${stderr}`);
  return stdout;
}

/** The command line of each command, which succeeds at the sandbox. The tenant is deleted last. */
const LINES: Readonly<Record<string, () => string>> = {
  logs: () => 'logs',
  'logs entity-types': () => 'logs entity-types',
  'tenant show': () => 'tenant show',
  'tenant update': () => 'tenant update --name Renamed --yes',
  'tenant usage': () => 'tenant usage',
  '3ds create': () => `3ds create --token ${sandboxCards()[1]?.token ?? ''} --type customer`,
  '3ds show': () => `3ds show ${ids['session']}`,
  '3ds authenticate': () => `3ds authenticate ${ids['session']} --file body.json`,
  '3ds challenge-result': () => `3ds challenge-result ${ids['session']}`,
  'au create': () => 'au create',
  'au submit': () => 'au submit tokens.csv --cycle another --pay-again',
  'au status': () => `au status ${ids['done']}`,
  'au jobs': () => 'au jobs',
  'au upload': () => `au upload ${ids['job']} upload.csv`,
  'au download': () => `au download ${ids['done']} --out results.csv`,
};

describe('the table of operations in docs', () => {
  it('the table of operations in docs names every operation of the interface', () => {
    expect(OPERATIONS.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /logs',
      'GET /logs/entity-types',
      'GET /tenants/self',
      'PUT /tenants/self',
      'DELETE /tenants/self',
      'GET /tenants/self/reports/usage',
      'POST /3ds/sessions',
      'GET /3ds/sessions/{id}',
      'POST /3ds/sessions/{id}/authenticate',
      'GET /3ds/sessions/{id}/challenge-result',
      'POST /account-updater/jobs',
      'GET /account-updater/jobs/{id}',
      'GET /account-updater/jobs',
      'PUT {upload_url}',
      'GET {download_url}',
    ]);
  });

  it.each(OPERATIONS.filter(({ method }) => method !== 'DELETE'))(
    '$method $path is what its command sends',
    async ({ method, path, commands }) => {
      const [words = ''] = commands.filter((command) => command in LINES).toReversed();
      const before = sandbox.ledger().length;
      await svc(LINES[words]?.() ?? words);
      const sent = sandbox.ledger().slice(before);
      expect(sent.some((entry) => entry.method === method && pattern(path).test(entry.path))).toBe(true);
    },
  );

  it('the table of operations in docs reads a list by page number', async () => {
    const lines = (await svc('api GET /applications --paginate --query size=7')).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(7);
    expect(sandbox.ledger().filter((entry) => entry.path.startsWith('/applications')).length).toBeGreaterThan(1);
  });

  it('DELETE /tenants/self is what its command sends, once', async () => {
    const { id } = JSON.parse(await svc('tenant show -o json')) as { id: string };
    await svc(`tenant delete --confirm ${id}`);
    expect(
      sandbox.ledger().filter((entry) => entry.method === 'DELETE' && entry.path === '/tenants/self'),
    ).toHaveLength(1);
  });
});

function pattern(path: string): RegExp {
  if (path.startsWith('{')) return /^\/store\//;
  return new RegExp(`^${path.replaceAll('{id}', '[^/]+')}(\\?|$)`);
}
