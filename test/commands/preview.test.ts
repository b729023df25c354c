import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../src/api/client.ts';
import type { RunningSandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { exampleRequestFile, sandboxCards } from '../../src/sandbox/vault/cards.ts';
import { svcHere } from '../support/run-here.ts';
import { type Finished, Home } from '../support/svc.ts';
import { allCommands } from '../support/tree.ts';

const KEYS = { managementKey: 'sandbox-management-key', privateKey: 'sandbox-private-key' };

const commands = await allCommands();
const home = new Home();
const ids: Record<string, string> = {};
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: home.file('sandbox'), processingMs: 100, pickupMs: 0 });
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  writeFileSync(home.file('body.json'), (await svc('3ds template payment-transaction -o json')).stdout);
  await svc('profile set output json --profile spare');
  ids['token'] = sandboxCards()[0]?.token ?? '';
  ids['job'] = await idOf('au create -o json');
  ids['session'] = await idOf(`3ds create --token ${ids['token']} --type customer -o json`);
  const event = { received_at: '2026-01-05T12:00:00.000Z', id: 'e', type: 't', headers: {}, body: '{}' };
  writeFileSync(home.file('events.jsonl'), `${JSON.stringify(event)}\n`);
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
  return home.svc(line.split(' '), {
    env: { SVC_BASE_URL: sandbox.url, ...keys, ...env },
    input: 'sandbox-management-key\n',
  });
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

/** What every command that previews is run with. A new command fails the sweep below until it is here. */
const LINES: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(Object.entries(WRITES).map(([words, [line]]) => [words, line])),
  'tenant show': () => 'tenant show',
  'tenant usage': () => 'tenant usage',
  'tenant update': () => 'tenant update --name Other',
  'logs list': () => 'logs list --entity-type card',
  'logs entity-types': () => 'logs entity-types',
  'logs stats': () => 'logs stats',
  'logs tail': () => 'logs tail --since 1h',
  '3ds show': () => `3ds show ${ids['session']}`,
  '3ds challenge-result': () => `3ds challenge-result ${ids['session']} --wait`,
  'au list': () => 'au list',
  'au status': () => `au status ${ids['job']}`,
  'au wait': () => `au wait ${ids['job']}`,
  'au download': () => `au download ${ids['job']}`,
  'au submit': () => 'au submit tokens.csv --wait',
  'au sync': () => 'au sync',
  'events trigger': () => `events trigger account-updater.job.completed --forward-to ${sandbox.url}`,
  'events replay': () => `events replay events.jsonl --forward-to ${sandbox.url}`,
  login: () => `login --base-url ${sandbox.url} --management-key-stdin`,
  logout: () => 'logout',
  'profile delete': () => 'profile delete spare',
  'completion install': () => 'completion install --shell bash',
};

describe('a preview', () => {
  const previewing = commands.filter(
    ({ command }) => command.request !== undefined || 'dryRun' in command.parameters,
  );

  it('R62 has a line for every command of the tree that can preview', () => {
    expect(Object.keys(LINES).toSorted()).toEqual(previewing.map(({ words }) => words).toSorted());
  });

  it.each(previewing.map(({ words, command }) => [words, command] as const))(
    'R62 of %s only reads',
    { timeout: 60_000 },
    async (words, command) => {
      const line = LINES[words]?.() ?? '';
      const ways = [
        ...(command.request === undefined ? [] : ['--curl']),
        ...('dryRun' in command.parameters ? ['--dry-run'] : []),
        ...(command.request !== undefined && 'dryRun' in command.parameters ? ['--dry-run --curl'] : []),
      ];
      for (const way of ways) {
        const before = sandbox.ledger().length;
        const { code, stderr } = await svc(`${line} ${way}`);
        expect({ way, code, stderr: code === 0 ? '' : stderr }).toEqual({ way, code: 0, stderr: '' });
        const allowed = way === '--curl' ? [] : ['GET', 'HEAD'];
        const sent = sandbox.ledger().slice(before);
        expect(sent.filter(({ method }) => !allowed.includes(method))).toEqual([]);
      }
    },
  );

  it.each(commands.filter(({ command }) => command.request === undefined).map(({ words }) => words))(
    'R62 with --curl is refused by %s, which has no request to show',
    async (words) => {
      const run = await svcHere([...words.split(' '), '--curl']);
      expect(run).toMatchObject({ code: 2, stdout: '' });
    },
  );

  it('R62 gets a client that cannot send anything but reads', async () => {
    const client = new Client({ baseUrl: sandbox.url, ...KEYS, readOnly: true });
    const before = sandbox.ledger().length;
    await expect(client.accountUpdater.create()).rejects.toThrow('can only read');
    await expect(client.tenant.delete()).rejects.toThrow('can only read');
    expect(sandbox.ledger()).toHaveLength(before);
    await client.close();
  });
});

describe('--dry-run', () => {
  it('is there for every command with a permission to change something', () => {
    const without = commands
      .filter(({ command: { permissions = [] } }) =>
        permissions.some((one) => /:(create|update|delete|authenticate)$/.test(one)),
      )
      .filter(({ command, words }) => !('dryRun' in command.parameters) && words !== '3ds challenge-result')
      .map(({ words }) => words);
    expect(without).toEqual([]);
  });

  it.each(Object.entries(WRITES))(
    'of %s shows the request and sends nothing that changes',
    async (_, write) => {
      const [line, method, path] = write;
      const before = sandbox.ledger().length;
      const { code, stdout, stderr } = await svc(`${line()} --dry-run`);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining('dry run: this request was not sent'),
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
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('not sent') });
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
});
