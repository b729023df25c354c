import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { FaultServer, type Step } from '../support/fault-server.ts';
import { answer, json } from '../support/fault-steps.ts';
import { FakeClock } from '../support/clock.ts';
import { errorIn, type HereResult, rowOf, svcIn } from '../support/run-here.ts';
import { startSandbox } from '../support/sandbox.ts';
import { finished, Home } from '../support/svc.ts';

const home = new Home();
let sandbox: RunningSandbox;
let server: FaultServer;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: home.file('sandbox') });
  server = await FaultServer.start([]);
});

afterAll(async () => {
  await sandbox.close();
  await server.close();
});

const keys = { SVC_MANAGEMENT_API_KEY: 'sandbox-management-key', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };

function atSandbox(argv: readonly string[], env: Record<string, string> = {}): Promise<HereResult> {
  return here(argv, { ...keys, SVC_BASE_URL: sandbox.url, ...env });
}

/** Runs a command in this process. Whatever its code is, a process ends with it in the same way. */
function here(argv: readonly string[], env: Record<string, string> = {}): Promise<HereResult> {
  return svcIn(home.path, argv, { env, clock: new FakeClock({ start: Date.now() }) });
}

/** Where a command finds the service: at the sandbox, at a server that takes this step, or where its variables say. */
type Where = 'sandbox' | Step | Record<string, string>;

const NOBODY = 'http://127.0.0.1:1';

/** The lines that end commands, and their errors for programs. `{server}` stands for the address of the server. */
const ENDS: readonly (readonly [code: number, what: string, line: string, where: Where, stderr: string])[] = [
  [
    2,
    'usage',
    'logs --limit many',
    'sandbox',
    '{"code":"usage","message":"--limit must be a whole number of at least 1, not \\"many\\"","next":"svc logs --help","next_words":["svc","logs","--help"],"retryable":false,"exit_code":2}',
  ],
  [
    3,
    'no base URL',
    'tenant',
    {},
    '{"code":"config","message":"no base URL is set","hint":"Set SVC_BASE_URL, or store one. To try svc without keys, add --sandbox.","next":"svc login","next_words":["svc","login"],"retryable":false,"exit_code":3,"command":"tenant show","missing":"base_url"}',
  ],
  [
    3,
    'no key',
    'tenant',
    { SVC_BASE_URL: NOBODY },
    '{"code":"key_missing","message":"no management key is set","hint":"Set SVC_MANAGEMENT_API_KEY or SVC_API_KEY (or …_FILE), or store a key. To try svc without keys, add --sandbox.","next":"svc login","next_words":["svc","login"],"retryable":false,"exit_code":3,"command":"tenant show"}',
  ],
  [
    5,
    'a job that is not there',
    'au status 00000000-0000-4000-8000-000000000001',
    'sandbox',
    '{"code":"job_expired","message":"job 00000000-0000-4000-8000-000000000001 is not found","status":404,"hint":"A job is deleted if no file is uploaded to it within an hour. Check the id, and that the key belongs to the tenant that owns the job.","next":"svc au jobs","next_words":["svc","au","jobs"],"retryable":false,"exit_code":5,"command":"au status","job":"00000000-0000-4000-8000-000000000001"}',
  ],
  [
    6,
    'rejected by the service',
    'tenant',
    json({ title: 'No', errors: { size: ['is odd'] } }, 422),
    '{"code":"rejected","message":"the service rejected the request (422): the tenant: No – size: is odd","status":422,"hint":"Fix what the message names, then run the command again.","retryable":false,"exit_code":6,"command":"tenant show","fields":{"size":["is odd"]}}',
  ],
  [
    7,
    'rate limited for longer than --max-wait',
    'tenant --max-wait 5s',
    answer(429, '', { 'retry-after': '60' }),
    '{"code":"rate_limited","message":"the service is limiting requests (429): the tenant; it asks to wait 60 s, longer than 5 s","status":429,"hint":"Run the command again in 60 s. To allow the pause, add --max-wait 60s.","retryable":true,"exit_code":7,"command":"tenant show","retry_after_s":60}',
  ],
  [
    8,
    'an answer without sense',
    'tenant',
    answer(200, '<title>Welcome</title>', { 'content-type': 'text/html' }),
    '{"code":"bad_response","message":"the response of {server} to GET /tenants/self is malformed (200): a web page instead of JSON: «Welcome»","status":200,"hint":"Check the base URL; if it is right, the service or something in between is at fault.","retryable":false,"exit_code":8,"command":"tenant show"}',
  ],
  [
    8,
    'nobody there',
    'tenant',
    { SVC_BASE_URL: NOBODY, SVC_API_KEY: 'a-key' },
    '{"code":"network","message":"no response from http://127.0.0.1:1: it refused the connection","hint":"Check the base URL and your network, step by step:","next":"svc doctor","next_words":["svc","doctor"],"retryable":true,"exit_code":8,"command":"tenant show","system_code":"ECONNREFUSED"}',
  ],
  [
    9,
    'a creation without a clear answer',
    'au create',
    answer(502),
    'UNKNOWN TENANT profile default, {server}\n{"code":"outcome_unknown","message":"outcome unknown: creating a job may have taken effect, the service responded with 502","status":502,"hint":"Check whether a new pending job was created; one that gets no file is removed after an hour and costs nothing.","next":"svc au jobs","next_words":["svc","au","jobs"],"retryable":false,"exit_code":9,"command":"au create"}',
  ],
];

/** Runs a command with another key each time, because a pause applies to every process with its key. */
function ran(line: string, where: Where, key: string): Promise<HereResult> {
  const argv = line.split(' ');
  if (where === 'sandbox') return atSandbox(argv);
  if (!isStep(where)) return here(argv, where);
  server.play([where]);
  return here(argv, { SVC_API_KEY: `a-key-of-${key.length}`, SVC_BASE_URL: server.url.href });
}

function isStep(where: Exclude<Where, string>): where is Step {
  return 'act' in where;
}

describe('exit codes', () => {
  it('R55: exit code 0: done', async () => {
    const env = { ...keys, SVC_BASE_URL: sandbox.url };
    expect(await home.svc(['tenant', 'show'], { env })).toMatchObject({ code: 0, stderr: '' });
  });

  it('R55: exit code 3: a process ends with the code of its command', async () => {
    expect(await home.svc(['tenant', 'show'])).toMatchObject({ code: 3, stdout: '' });
  });

  it.each(ENDS)('R55: exit code %i: %s', async (code, what, line, where, stderr) => {
    const run = await ran(line, where, what);
    // The pause before another attempt is random, and announced if it is long.
    const lasting = run.stderr.replace(/^no response .*, retrying in \d+s\n/m, '');
    expect([run.code, lasting.replaceAll(server.url.origin, '{server}')]).toEqual([code, `${stderr}\n`]);
  });

  it('R55: exit code 4: a key that is not known, of the other kind, or without the permission', async () => {
    const unknown = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'no-such-key' });
    const otherKind = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'sandbox-private-key' });
    const without = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'sandbox-management-key-logs-only' });
    expect([unknown.code, otherKind.code, without.code]).toEqual([4, 4, 4]);
    expect(errorIn(unknown)).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(errorIn(without)).toMatchObject({
      code: 'forbidden',
      status: 403,
      message: expect.stringMatching(/management key from SVC_MANAGEMENT_API_KEY is not allowed.*tenant:read/),
    });
  });

  it('an error names a profile only where something of it is used', async () => {
    const wrong = { SVC_MANAGEMENT_API_KEY: 'no-such-key' };
    const without = [
      await here(['tenant']),
      await here(['whoami', '-o', 'table']),
      await here(['tenant'], { SVC_BASE_URL: sandbox.url }),
      await atSandbox(['tenant'], wrong),
      await atSandbox(['logs'], wrong),
    ];
    expect(without.map(({ code }) => code)).toEqual([3, 3, 3, 4, 4]);
    for (const { stderr } of without) expect(stderr).not.toContain('profile');
    const directory = home.file('config-with-url');
    mkdirSync(directory);
    const config = { version: 1, profiles: { default: { base_url: sandbox.url } } };
    writeFileSync(join(directory, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const used = { SVC_CONFIG_DIR: directory };
    expect((await here(['tenant'], used)).stderr).toContain('no management key for profile default');
    expect((await here(['tenant'], { ...used, ...wrong })).stderr).toContain(
      'from SVC_MANAGEMENT_API_KEY (profile default) was not accepted',
    );
  });

  it('R55: exit code 11: still pending when the time is up, with the command that continues', async () => {
    const { id } = rowOf(await atSandbox(['au', 'create']));
    // A clock that passes at once would end the time before the first response.
    const env = { ...keys, SVC_BASE_URL: sandbox.url };
    const waited = await finished(home.start(['au', 'resume', String(id), '--wait', '--timeout', '3s'], { env }));
    expect(waited, waited.stderr).toMatchObject({ code: 11 });
    expect(JSON.parse(waited.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      code: 'pending',
      next: expect.stringContaining(`svc au resume ${String(id)} --wait`),
    });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('R55 and R53: %s ends a wait with exit code %d and the command that continues', async (signal, code) => {
    const created = JSON.parse((await atSandbox(['au', 'create'])).stdout) as { id: string };
    const child = home.start(['au', 'resume', created.id, '--wait'], { env: { ...keys, SVC_BASE_URL: sandbox.url } });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => {
      if (stderr === '') child.kill(signal);
      stderr += String(text);
    });
    const ended = await new Promise((resolve) => child.on('close', resolve));
    expect(ended).toBe(code);
    expect(stderr).toContain(`svc au resume ${created.id} --wait`);
  });
});
