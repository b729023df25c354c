import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isGroup } from '../../src/cli/command.ts';
import { TREE } from '../../src/program/tree.ts';
import { exampleRequestFile, sandboxCards } from '../../src/sandbox/cards.ts';
import type { RunningSandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { type Finished, Home } from '../support/svc.ts';

const home = new Home();
const ids: Record<string, string> = {};
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: home.file('sandbox'), processingMs: 100, pickupMs: 0 });
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  writeFileSync(home.file('body.json'), (await svc('3ds template payment-transaction -o json')).stdout);
  ids['token'] = sandboxCards()[0]?.token ?? '';
  ids['job'] = await idOf('au create -o json');
  ids['session'] = await idOf(`3ds create --token ${ids['token']} --type customer -o json`);
  ids['tenant'] = await idOf('tenant show -o json');
});

afterAll(async () => {
  await sandbox.close();
  home.remove();
});

async function svc(line: string, env: Record<string, string> = {}): Promise<Finished> {
  const keys = {
    SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  };
  return home.svc(line.split(' '), { env: { SVC_BASE_URL: sandbox.url, ...keys, ...env } });
}

async function idOf(line: string): Promise<string> {
  return (JSON.parse((await svc(line)).stdout) as { id: string }).id;
}

/** Commands that change something at the service, and the request that they would send. */
const WRITES: Readonly<Record<string, readonly [line: () => string, method: string, path: RegExp]>> = {
  'tenant delete': [() => `tenant delete --confirm ${ids['tenant']}`, 'DELETE', /\/tenants\/self$/],
  '3ds create': [() => `3ds create --token ${ids['token']} --type customer`, 'POST', /\/3ds\/sessions$/],
  '3ds authenticate': [
    () => `3ds authenticate ${ids['session']} --file body.json`,
    'POST',
    /\/authenticate$/,
  ],
  'au create': [() => 'au create', 'POST', /\/account-updater\/jobs$/],
  'au upload': [() => `au upload ${ids['job']} tokens.csv`, 'PUT', /^\(hidden\)$/],
  api: [() => 'api PUT /tenants/self --set name=Other', 'PUT', /\/tenants\/self$/],
};

/** Those whose dry run shows something else: a difference, the check of a file, the open runs. */
const OTHER_WRITES: Readonly<Record<string, () => string>> = {
  'tenant update': () => 'tenant update --name Other',
  'au submit': () => 'au submit tokens.csv',
  'au sync': () => 'au sync',
};

async function writingCommands(): Promise<string[]> {
  const nodes = await Promise.all(TREE.map((entry) => entry.load()));
  return nodes.flatMap((node) => {
    const commands = isGroup(node) ? node.commands : [node];
    return commands
      .filter(({ parameters }) => 'dryRun' in parameters)
      .filter(({ permissions }) => permissions !== undefined)
      .map(({ name }) => (isGroup(node) ? `${node.name} ${name}` : name));
  });
}

describe('--dry-run', () => {
  it('is there for every command with a permission to change something', async () => {
    const nodes = await Promise.all(TREE.map((entry) => entry.load()));
    const without = nodes
      .flatMap((node) => (isGroup(node) ? node.commands : [node]))
      .filter(({ permissions = [] }) =>
        permissions.some((one) => /:(create|update|delete|authenticate)$/.test(one)),
      )
      .filter(({ parameters, name }) => !('dryRun' in parameters) && name !== 'challenge-result')
      .map(({ name }) => name);
    expect(without).toEqual([]);
    const known = [...Object.keys(WRITES), ...Object.keys(OTHER_WRITES)].toSorted();
    expect((await writingCommands()).toSorted()).toEqual(known);
  });

  it.each(Object.entries(WRITES))(
    'of %s shows the request and sends nothing that changes',
    async (_, write) => {
      const [line, method, path] = write;
      const before = sandbox.ledger().length;
      const { code, stdout, stderr } = await svc(`${line()} --dry-run`);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining('dry run: this was not sent'),
      });
      expect(JSON.parse(stdout)).toMatchObject({ method, url: expect.stringMatching(path) });
      expect(
        sandbox
          .ledger()
          .slice(before)
          .filter((entry) => entry.method !== 'GET'),
      ).toEqual([]);
    },
  );

  it.each(Object.entries(OTHER_WRITES))('of %s sends nothing that changes', async (_, line) => {
    const before = sandbox.ledger().length;
    expect(await svc(`${line()} --dry-run`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('nothing was sent'),
    });
    expect(
      sandbox
        .ledger()
        .slice(before)
        .filter((entry) => entry.method !== 'GET'),
    ).toEqual([]);
  });

  it('hides a card number and the key in the body that it shows', async () => {
    const body = { data: { number: '4242 4242 4242 4242' }, note: 'sandbox-private-key' };
    const run = await home.svc(['api', 'POST', '/tokens', '--file', '-', '--dry-run'], {
      env: { SVC_BASE_URL: sandbox.url, SVC_PRIVATE_API_KEY: 'sandbox-private-key' },
      input: JSON.stringify(body),
    });
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('"note": "[hidden]"');
    expect(run.stdout).not.toMatch(/4242.?4242.?4242.?4242/);
  });

  it('finds what is wrong first', async () => {
    expect(await svc('tenant delete --confirm other --dry-run')).toMatchObject({ code: 2, stdout: '' });
    expect(await svc('au create --dry-run', { SVC_PRIVATE_API_KEY: '' })).toMatchObject({
      code: 3,
      stdout: '',
    });
    expect(await svc('au upload no-such-job tokens.csv --dry-run')).toMatchObject({ code: 5, stdout: '' });
  });
});

describe('--curl', () => {
  it.each([
    ['logs --entity-type card', /^curl .*'http:\S+\/logs\?entity_type=card'\n$/s, 'SVC_MANAGEMENT_API_KEY'],
    ['logs tail', /\/logs\?/, 'SVC_MANAGEMENT_API_KEY'],
    ['tenant usage', /\/reports\/usage'/, 'SVC_MANAGEMENT_API_KEY'],
    ['au submit tokens.csv --wait', /--request POST .*\/account-updater\/jobs'/s, 'SVC_PRIVATE_API_KEY'],
    ['3ds show x', /\/3ds\/sessions\/x'/, 'SVC_PRIVATE_API_KEY'],
  ])(
    'of %s prints its first request, without a key and without asking anybody',
    async (line, text, variable) => {
      const before = sandbox.ledger().length;
      const none = { SVC_MANAGEMENT_API_KEY: '', SVC_PRIVATE_API_KEY: '' };
      const { code, stdout, stderr } = await svc(`${line} --curl`, none);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('nothing was sent') });
      expect(stdout).toMatch(text);
      expect(stdout).toContain(`-H "SVC-API-KEY: $${variable}"`);
      expect(sandbox.ledger()).toHaveLength(before);
    },
  );

  it('goes on to what would change something with --dry-run, and records no run', async () => {
    const { stdout } = await svc(`au upload ${ids['job']} tokens.csv --dry-run --curl`);
    expect(stdout).toBe('curl --request PUT \\\n  --upload-file \'tokens.csv\' \\\n  "$STORE_URL"\n');
    const update = await svc('tenant update --name Other --dry-run --curl');
    expect(update.stdout).toContain('{"name":"Other",');
    expect(await svc('au sync')).toMatchObject({ code: 0, stdout: '' });
  });

  it('names SVC_API_KEY where that is the variable in use', async () => {
    const env = { SVC_MANAGEMENT_API_KEY: '', SVC_API_KEY: 'canary-key-0123' };
    const { stdout, stderr } = await svc('logs --curl', env);
    expect(stdout).toContain('$SVC_API_KEY"');
    expect(stdout + stderr).not.toContain('canary');
  });

  it('points to a sandbox that listens', async () => {
    const { stdout, stderr } = await svc('--sandbox logs --curl');
    expect(stdout).toContain("'http://127.0.0.1:4010/logs'");
    expect(stderr).toContain('svc sandbox start');
  });

  it.each(['sandbox cards', 'au check tokens.csv', 'profile list'])(
    'is refused by %s, which asks nobody',
    async (line) => {
      expect(await svc(`${line} --curl`)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});
