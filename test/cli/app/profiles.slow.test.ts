import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FaultServer, type Script } from '../../support/fault-server.ts';
import { answer, json } from '../../support/fault-steps.ts';
import { errorIn, type HereResult, rowsIn, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const KEYS = { a: 'key_canary_of_a_4471', b: 'key_canary_of_b_9902' } as const;

/** Starts two services, `a` and `b`, and creates a profile with separate keys for each. */
async function twoServices(scripts: Readonly<Record<'a' | 'b', Script>>) {
  const servers = { a: await FaultServer.start(scripts.a), b: await FaultServer.start(scripts.b) };
  onTestFinished(async () => void (await Promise.all([servers.a.close(), servers.b.close()])));
  const svc = profilesOf({
    a: { url: servers.a.url, keys: [KEYS.a, KEYS.a] },
    b: { url: servers.b.url, keys: [KEYS.b, KEYS.b] },
  });
  return { servers, svc };
}

type ProfileSpec = Readonly<{ url: URL; keys: readonly [management: string, privateKey: string] }>;

function profilesOf(
  specs: Readonly<Record<string, ProfileSpec>>,
): (line: string, env?: Readonly<Record<string, string>>) => Promise<HereResult> {
  const directory = temporaryDirectory();
  const profiles = Object.fromEntries(
    Object.entries(specs).map(
      ([
        name,
        {
          url,
          keys: [management, privateKey],
        },
      ]) => {
        const base_url = url.href.replace(/\/$/, '');
        const keys = { management: { value: management, base_url }, private: { value: privateKey, base_url } };
        return [name, { base_url, keys }];
      },
    ),
  );
  writeFileSync(join(directory, 'config.json'), JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
  const own = { SVC_CONFIG_DIR: directory, SVC_CACHE_DIR: join(directory, 'cache'), SVC_PACING: 'off' };
  return (line, env = {}) => svcHere(line.split(' '), { env: { ...own, ...env } });
}

function usage(count: number): Script {
  return [json({ token_report: { monthly_active_tokens: count, included_monthly_active_tokens: 10 } })];
}

it('R02: --profiles shows profiles side by side, and sends each key to its own base URL only', async () => {
  const { servers, svc } = await twoServices({ a: usage(3), b: usage(7) });
  const { code, stdout, stderr } = await svc('tenant usage --profiles a,b -o table');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^PROFILE +INCLUDED TOKENS +ACTIVE TOKENS\na +10 +3\nb +10 +7\n$/);
  for (const name of ['a', 'b'] as const) {
    expect(servers[name].ledger.map(({ headers }) => headers['svc-api-key'])).toEqual([KEYS[name]]);
  }
  expect(rowsIn((await svc('tenant usage --profiles b,a')).stdout).map(({ profile }) => profile)).toEqual(['b', 'a']);
  const chosen = await svc('tenant usage --profiles a,b -o csv --fields type');
  expect(chosen.stdout).toBe('profile,type\n');
});

it('--profiles names itself where a profile is unknown', async () => {
  const { stderr } = await profilesOf({})('tenant usage --profiles nope');
  expect(errorIn({ stderr })['message']).toBe('unknown profile "nope", named by --profiles');
});

it('R06: --profiles reports one profile that fails beside the rows of the others, and hides the keys of all', async () => {
  const { svc } = await twoServices({ a: [json({ detail: `${KEYS.a} and ${KEYS.b}` }, 401)], b: usage(7) });
  const result = await svc('tenant usage --profiles a,b --debug');
  expect(result.code).toBe(4);
  expect(rowsIn(result.stdout)).toMatchObject([{ profile: 'b', token_report: { monthly_active_tokens: 7 } }]);
  expect(result.stderr).toContain('"profile":"a"');
  expect(result.stdout + result.stderr).not.toMatch(/key_canary/);
  const shown = await svc('tenant usage --profiles b,a -o table');
  expect(shown.stderr).toMatch(/^error: a: the management key .*\n.*\n {2}svc --profile a login\n$/);
});

it('--profiles ends with the code that matters most: keys, then settings, then the service, then a threshold', async () => {
  const { svc } = await twoServices({ a: [answer(500)], b: usage(9) });
  expect((await svc('tenant usage --profiles a,b --warn-at 80%')).code).toBe(8);
  const full = await twoServices({ a: usage(1), b: usage(9) });
  expect((await full.svc('tenant usage --profiles a,b --warn-at 80%')).code).toBe(10);
});

it.each([
  ['--profile a', {}],
  ['--sandbox', {}],
  ['--base-url http://127.0.0.1:9', {}],
  ['--curl', {}],
  ['', { SVC_BASE_URL: 'http://127.0.0.1:9' }],
  ['', { SVC_API_KEY: 'key_canary_of_nobody' }],
  ['--profiles a,nobody', {}],
  ['--fields nope', {}],
  ['--excel-safe -o table', {}],
])('--profiles refuses %s %j before anything is sent', async (words, env) => {
  const { servers, svc } = await twoServices({ a: [json([])], b: [json([])] });
  const { code, stdout } = await svc(`tenant usage --profiles a,b ${words}`.trim(), env);
  expect([code === 2 || code === 3, stdout]).toEqual([true, '']);
  expect([...servers.a.ledger, ...servers.b.ledger]).toEqual([]);
});

it('--profiles reports a failure in the output format of the first profile', async () => {
  const { svc } = await twoServices({ a: [json({}, 401)], b: usage(7) });
  await svc('profile set output table --profile b');
  expect((await svc('tenant usage --profiles b,a')).stderr).toMatch(/^error: a: the management key /);
});

it('--profiles reads the identities of several services', async () => {
  const [one, two] = [await startSandboxHere(), await startSandboxHere()];
  const svc = profilesOf({
    prod: { url: one.baseUrl, keys: ['sandbox-management-key', 'sandbox-private-key'] },
    qa: { url: two.baseUrl, keys: ['sandbox-management-key-read-only', 'sandbox-private-key'] },
  });
  const who = await svc('whoami --profiles prod,qa -o table');
  expect(who.stdout).toMatch(/^PROFILE +TENANT NAME +TENANT TYPE .*\nprod +Sandbox +test +accepted +accepted .*\nqa +/);
  expect((await svc('whoami --profiles prod,qa --jq .profile')).stdout).toBe('prod\nqa\n');
});
