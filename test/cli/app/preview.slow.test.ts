import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_LINES } from '../../support/command-lines.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { allCommands } from '../../support/tree.ts';
import { World } from '../../support/world.ts';

const commands = await allCommands();
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

async function svc(line: string, env: Record<string, string> = {}): Promise<HereResult> {
  const argv = line.split(' ').map((word) => world.fill(word));
  return world.run('', [], { argv, env: { ...env } });
}

/** Commands that change something at the service, and the request that they would send. */
const WRITES: Readonly<Record<string, readonly [method: string, path: RegExp]>> = {
  'tenant delete': ['DELETE', /\/tenants\/self$/],
  '3ds create': ['POST', /\/3ds\/sessions$/],
  '3ds authenticate': ['POST', /\/authenticate$/],
  '3ds run': ['POST', /\/3ds\/sessions$/],
  '3ds test': ['POST', /\/3ds\/sessions$/],
  'au create': ['POST', /\/account-updater\/jobs$/],
  'au upload': ['PUT', /^\(hidden\)$/],
};

describe('a preview', () => {
  const previewing = commands.filter(({ command }) => command.request !== undefined || 'dryRun' in command.parameters);

  it.each(previewing.map(({ words, command }) => [words, command] as const))(
    'R62: a preview of %s only reads',
    async (words, command) => {
      const [curl, dryRun] = [command.request !== undefined, 'dryRun' in command.parameters];
      const ways = [
        ...(curl ? [['--curl']] : []),
        ...(dryRun ? [['--dry-run']] : []),
        ...(curl && dryRun ? [['--dry-run', '--curl']] : []),
      ];
      for (const way of ways) {
        const before = world.requests.length;
        const { code, stderr } = await world.run(words, way);
        expect({ way, code, stderr: code === 0 ? '' : stderr }).toEqual({ way, code: 0, stderr: '' });
        const allowed = way[0] === '--curl' ? [] : ['GET', 'HEAD'];
        const sent = world.requests.slice(before);
        expect(sent.filter(({ method }) => !allowed.includes(method))).toEqual([]);
      }
    },
  );

  it.each(commands.filter(({ command }) => command.request === undefined).map(({ words }) => words))(
    'R62: a preview with --curl is refused by %s, which has no request to show',
    async (words) => {
      const run = await svcHere([...words.split(' '), '--curl']);
      expect(run).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

describe('--dry-run', () => {
  it('--dry-run is there for every command with a permission to change something', () => {
    const without = commands
      .filter(({ command: { permissions = [] } }) =>
        permissions.some((one) => /:(create|update|delete|authenticate)$/.test(one)),
      )
      .filter(({ command, words }) => !('dryRun' in command.parameters) && words !== '3ds challenge-result')
      .map(({ words }) => words);
    expect(without).toEqual([]);
  });

  it.each(Object.entries(WRITES))(
    '--dry-run of %s shows the request and sends nothing that changes',
    async (words, [method, path]) => {
      const before = world.requests.length;
      const { code, stdout, stderr } = await world.run(words, ['--dry-run']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('was not sent') });
      const [shown] = [JSON.parse(stdout) as unknown].flat();
      expect(shown).toMatchObject({ method, url: expect.stringMatching(path) });
      expect(world.requests.slice(before).filter((sent) => sent.method !== 'GET')).toEqual([]);
    },
  );

  it('--dry-run hides a card number and the key in the body that it shows', async () => {
    const body = { data: { number: '4242 4242 4242 4242' }, note: 'some-private-key' };
    const run = await world.run('api', [], {
      argv: ['api', 'POST', '/tokens', '--file', '-', '--dry-run'],
      env: { SVC_PRIVATE_API_KEY: 'some-private-key' },
      input: JSON.stringify(body),
    });
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('"note": "[hidden]"');
    expect(run.stdout).not.toMatch(/4242.?4242.?4242.?4242/);
  });

  it('--dry-run finds what is wrong first', async () => {
    expect(await svc('tenant delete --confirm other --dry-run')).toMatchObject({ code: 2, stdout: '' });
    expect(await svc('au create --dry-run', { SVC_PRIVATE_API_KEY: '' })).toMatchObject({ code: 3, stdout: '' });
    expect(await svc('au upload no-such-job tokens.csv --dry-run')).toMatchObject({ code: 5, stdout: '' });
  });
});

/** Commands that send another first request: they read the log in ranges, or need none for a finished run. */
const WITHOUT_SAME_REQUEST = new Set([
  'logs tail',
  'logs history',
  'logs stats',
  'au status',
  'au download',
  'au resume',
]);

/** Command lines with options that change the first request. */
const MORE_LINES = [
  'au jobs --status failed',
  'au jobs --since 1h',
  'au jobs --limit 7 --start x',
  'logs --all',
  'logs --grep x --page-size 30',
  'logs --entity-id x',
];

describe('--curl', () => {
  const lines = commands
    .filter(({ words, command }) => command.request && !WITHOUT_SAME_REQUEST.has(words))
    .map(({ words }) => COMMAND_LINES[words] ?? words);

  it.each([...lines, ...MORE_LINES])('R62: svc %s --curl shows the first request of the command', async (line) => {
    const argv = line.split(' ').map((word) => world.fill(word));
    const { stdout } = await world.run('', ['--curl'], { argv });
    const method = /--request (\w+)/.exec(stdout)?.[1] ?? 'GET';
    const address = /'(http[^']+)'\n$/.exec(stdout)?.[1] ?? '';
    const before = world.requests.length;
    await world.run('', [], { argv });
    // What is asked of a sandbox alone is no request to the service.
    const first = world.requests.slice(before).find(({ path }) => !path.startsWith('/sandbox/'));
    expect(`${method} ${address}`).toBe(`${first?.method} ${world.url}${first?.path}`);
  });

  it.each([
    ['logs --entity-type card', /^curl .*'http:\S+\/logs\?entity_type=card'\n$/s, 'SVC_MANAGEMENT_API_KEY'],
    ['logs tail', /\/logs\?/, 'SVC_MANAGEMENT_API_KEY'],
    ['tenant usage', /\/reports\/usage'/, 'SVC_MANAGEMENT_API_KEY'],
    ['au submit tokens.csv --wait', /^curl .*\/account-updater\/jobs\?size=100'/s, 'SVC_PRIVATE_API_KEY'],
    ['3ds show x', /\/3ds\/sessions\/x'/, 'SVC_PRIVATE_API_KEY'],
  ])(
    '--curl of %s prints its first request, without a key and without asking anybody',
    async (line, text, variable) => {
      const before = world.requests.length;
      const none = { SVC_MANAGEMENT_API_KEY: '', SVC_PRIVATE_API_KEY: '' };
      const { code, stdout, stderr } = await svc(`${line} --curl`, none);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('not sent') });
      expect(stdout).toMatch(text);
      expect(stdout).toContain(`-H "SVC-API-KEY: $${variable}"`);
      expect(world.requests).toHaveLength(before);
    },
  );

  it('--curl continues to what would change something with --dry-run', async () => {
    // The rows of the other files were sent before, so that their upload would be refused.
    const { stdout } = await svc('au upload {job} upload.csv --dry-run --curl');
    expect(stdout).toMatch(/^curl --request PUT \\\n {2}--upload-file '\S*upload\.csv' \\\n {2}"\$STORE_URL"\n$/);
    const update = await svc('tenant update --name Other --dry-run --curl');
    expect(update.stdout).toContain('{"name":"Other",');
  });

  it('--curl records no run', async () => {
    await world.copy(async (run) => {
      const runs = (): Promise<HereResult> => run('', [], { argv: ['au', 'status', '-o', 'json'] });
      const before = await runs();
      expect(await run('au submit', ['--dry-run'])).toMatchObject({ code: 0 });
      expect((await runs()).stdout).toBe(before.stdout);
    });
  });

  it('--curl names SVC_API_KEY where that is the variable in use', async () => {
    const env = { SVC_MANAGEMENT_API_KEY: '', SVC_API_KEY: 'canary-key-0123' };
    const { stdout, stderr } = await svc('logs --curl', env);
    expect(stdout).toContain('$SVC_API_KEY"');
    expect(stdout + stderr).not.toContain('canary');
  });

  it('--curl points to a sandbox that listens', async () => {
    const { stdout, stderr } = await svc('--sandbox logs --curl');
    expect(stdout).toContain("'http://127.0.0.1:4010/logs'");
    expect(stderr).toContain('svc sandbox start');
  });
});
