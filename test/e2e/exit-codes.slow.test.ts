import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { FaultServer, type Step } from '../support/fault-server.ts';
import { answer, json } from '../support/fault-steps.ts';
import { type Finished, Home } from '../support/svc.ts';
import { startSandbox } from '../support/sandbox.ts';

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
  home.remove();
});

const keys = { SVC_MANAGEMENT_API_KEY: 'sandbox-management-key', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };

function atSandbox(argv: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  return home.svc(argv, { env: { ...keys, SVC_BASE_URL: sandbox.url, ...env } });
}

function atScripted(step: Step, argv: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  server.play([step]);
  return home.svc(argv, { env: { ...keys, SVC_BASE_URL: server.url.href, ...env } });
}

function errorOf({ stderr }: Finished): unknown {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}

describe('exit codes', () => {
  it('R55: exit code 0: done', async () => {
    expect(await atSandbox(['tenant', 'show'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('R55: exit code 2: usage', async () => {
    const run = await atSandbox(['logs', '--limit', 'many']);
    expect(run.code).toBe(2);
    expect(errorOf(run)).toMatchObject({ code: 'usage', exit_code: 2 });
  });

  it('R55: exit code 3: no base URL, no key', async () => {
    expect(errorOf(await home.svc(['tenant']))).toMatchObject({
      code: 'config',
      exit_code: 3,
      hint: expect.stringContaining('--sandbox'),
    });
    const noKey = await home.svc(['tenant'], { env: { SVC_BASE_URL: sandbox.url } });
    expect(noKey.code).toBe(3);
    expect(errorOf(noKey)).toMatchObject({ code: 'key_missing', next: expect.stringContaining('login') });
  });

  it('R55: exit code 4: a key that is not known, of the other kind, or without the permission', async () => {
    const unknown = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'no-such-key' });
    const otherKind = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'sandbox-private-key' });
    const without = await atSandbox(['tenant'], { SVC_MANAGEMENT_API_KEY: 'sandbox-management-key-logs-only' });
    expect([unknown.code, otherKind.code, without.code]).toEqual([4, 4, 4]);
    expect(errorOf(unknown)).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(errorOf(without)).toMatchObject({
      code: 'forbidden',
      status: 403,
      message: expect.stringMatching(/management key from SVC_MANAGEMENT_API_KEY is not allowed.*tenant:read/),
    });
  });

  it('an error names a profile only where something of it is used', async () => {
    const wrong = { SVC_MANAGEMENT_API_KEY: 'no-such-key' };
    const without = [
      await home.svc(['tenant']),
      await home.svc(['whoami', '-o', 'table']),
      await home.svc(['tenant'], { env: { SVC_BASE_URL: sandbox.url } }),
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
    expect((await home.svc(['tenant'], { env: used })).stderr).toContain('no management key for profile default');
    expect((await home.svc(['tenant'], { env: { ...used, ...wrong } })).stderr).toContain(
      'from SVC_MANAGEMENT_API_KEY (profile default) was not accepted',
    );
  });

  it('R55: exit code 5: a job that is not there', async () => {
    const run = await atSandbox(['au', 'status', '0b1c2d3e-4f50-4a61-8b72-9c83ad94be05']);
    expect(run.code).toBe(5);
    expect(errorOf(run)).toMatchObject({ code: 'job_expired', status: 404 });
  });

  it('R55: exit code 6: rejected by the service', async () => {
    const run = await atScripted(json({ title: 'No', errors: { size: ['is odd'] } }, 422), ['tenant']);
    expect(run.code).toBe(6);
    expect(errorOf(run)).toMatchObject({
      code: 'rejected',
      status: 422,
      message: expect.stringContaining('size: is odd'),
    });
  });

  it('R55: exit code 7: rate limited for longer than --max-wait', async () => {
    // The pause applies to every process with this key, so the other tests use another one.
    const run = await atScripted(answer(429, '', { 'retry-after': '60' }), ['tenant', '--max-wait', '5s'], {
      SVC_MANAGEMENT_API_KEY: 'a-key-that-sends-too-much',
    });
    expect(run.code).toBe(7);
    expect(errorOf(run)).toMatchObject({ code: 'rate_limited', hint: expect.stringContaining('--max-wait') });
  });

  it('R55: exit code 8: nobody there, or an answer without sense', async () => {
    const html = await atScripted(answer(200, '<html><title>Welcome</title></html>', { 'content-type': 'text/html' }), [
      'tenant',
    ]);
    expect(html.code).toBe(8);
    expect(errorOf(html)).toMatchObject({ code: 'bad_response', message: expect.stringContaining('Welcome') });
    const refused = await home.svc(['tenant'], { env: { ...keys, SVC_BASE_URL: 'http://127.0.0.1:1' } });
    expect(refused.code).toBe(8);
    expect(errorOf(refused)).toMatchObject({ retryable: true, message: expect.stringContaining('refused') });
  });

  it('R55: exit code 9: a creation without a clear answer', async () => {
    const run = await atScripted(answer(502), ['au', 'create']);
    expect(run.code).toBe(9);
    expect(errorOf(run)).toMatchObject({
      code: 'outcome_unknown',
      retryable: false,
      next: expect.stringContaining('au jobs'),
    });
  });

  it('R55: exit code 11: still pending when the time is up, with the command that continues', async () => {
    const created = JSON.parse((await atSandbox(['au', 'create'])).stdout) as { id: string };
    const run = await atSandbox(['au', 'resume', created.id, '--wait', '--timeout', '3s']);
    expect(run.code).toBe(11);
    expect(errorOf(run)).toMatchObject({
      code: 'pending',
      next: expect.stringContaining(`svc au resume ${created.id} --wait`),
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
