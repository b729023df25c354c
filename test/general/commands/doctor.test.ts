import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { ended, errorIn, type HereOptions, KEY, startSandboxHere, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Returns the options of a run with a private key that is no longer valid. */
async function withExpiredKey(): Promise<HereOptions> {
  const { baseUrl, env } = await startSandboxHere();
  return { baseUrl, env: { ...env, SVC_PRIVATE_API_KEY: 'sandbox-private-key-expired' } };
}

describe('the error of svc doctor', () => {
  it.each(['json', 'jsonl', 'csv', 'yaml'])(
    'svc doctor -o %s ends with the worst finding as an error',
    async (format) => {
      const run = ended(await svcHere(['doctor', '-o', format], await withExpiredKey()), 4, {
        error: {
          code: 'unauthorized',
          exit_code: 4,
          message: expect.stringMatching(/^private key: .+ \(1 failed, 1 warning\)$/),
          hint: expect.any(String),
          check: 'private key',
        },
      });
      expect(run.stdout).toContain('account-updater:job:read');
    },
  );

  it('svc doctor names the next command of the worst finding', async () => {
    const run = await svcHere(['doctor', '-o', 'json'], {
      baseUrl: new URL('http://127.0.0.1:9'),
      env: { SVC_API_KEY: '' },
    });
    const worst = (JSON.parse(run.stdout) as Record<string, unknown>[]).find(({ code }) => code === 'network');
    expect([run.code, errorIn(run)['exit_code'], errorIn(run)['hint']]).toEqual([8, 8, worst?.['fix']]);
    const { baseUrl } = await startSandboxHere();
    const withoutKeys = await svcHere(['doctor', '-o', 'json'], { baseUrl, env: { SVC_API_KEY: '' } });
    expect(errorIn(withoutKeys)).toMatchObject({
      exit_code: 3,
      code: 'key_missing',
      next: expect.stringMatching(/svc login/),
    });
  });

  it('svc doctor on a terminal ends with the counts, without the fix that the findings name', async () => {
    ended(
      await svcHere(['doctor', '-o', 'table'], { ...(await withExpiredKey()), columns: 100 }),
      4,
      /error:\S* 1 failed, 1 warning\n$/,
      { unsaid: /hint:|private key/ },
    );
  });

  it('svc doctor warns of the type that a lone SVC_API_KEY does not have, as of a missing key', async () => {
    const { baseUrl } = await startSandboxHere();
    const run = await svcHere(['doctor', '-o', 'json'], { baseUrl, env: { SVC_API_KEY: 'sandbox-management-key' } });
    ended(run, 0, /0 failed, 2 warnings\n$/);
    expect(JSON.parse(run.stdout)).toContainEqual(
      expect.objectContaining({
        check: 'private key',
        result: 'warning',
        found: 'the key from SVC_API_KEY is a management key, not a private key',
      }),
    );
  });

  it.each([
    ['is missing', KEY],
    ['has too long a name', KEY.repeat(400)],
  ])(
    'R05: svc doctor reports a key file that %s, and does not show what may be the key itself',
    async (_which, name) => {
      const run = await svcHere(['doctor', '-o', 'json'], { env: { SVC_PRIVATE_API_KEY_FILE: name } });
      expect(run.code).toBe(3);
      expect(JSON.parse(run.stdout)).toContainEqual(
        expect.objectContaining({
          check: 'private key',
          result: 'failed',
          found: expect.stringContaining('the key file that SVC_PRIVATE_API_KEY_FILE names'),
        }),
      );
      expect(run.stdout + run.stderr).not.toContain(KEY);
    },
  );

  it('R87: svc doctor does not call stored keys missing where a variable is wrong', async () => {
    const { baseUrl } = await startSandboxHere();
    const home = temporaryDirectory();
    const input = 'sandbox-management-key\nsandbox-private-key';
    const login = ['login', '--management-key-stdin', '--private-key-stdin', '--base-url', baseUrl.href];
    succeeded(await svcHere(login, { home, input }));
    for (const env of [{ SVC_BASE_URL: 'notaurl' }, { SVC_TIMEOUT: 'abc' }, { SVC_TIMEOUT: 'abc', SVC_API_KEY: KEY }]) {
      const run = ended(await svcHere(['doctor', '-o', 'json'], { home, env }), 3);
      expect(run.stdout).not.toMatch(/none is stored|there is no key|no base URL|svc login/);
      expect(JSON.parse(run.stdout)).toContainEqual(
        expect.objectContaining({ check: 'private key', found: 'not known until the settings are fixed' }),
      );
    }
  });

  it('R87: svc doctor names the key that is stored for another base URL where a server answers without asking for one', async () => {
    const { baseUrl } = await startSandboxHere();
    const home = temporaryDirectory();
    const login = ['login', '--private-key-stdin', '--base-url', baseUrl.href];
    await svcHere(login, { home, input: 'sandbox-private-key' });
    const other = await serve([json({})]);
    const run = ended(await svcHere(['doctor', '-o', 'table'], { home, env: { SVC_BASE_URL: other.url.href } }), 3);
    expect(run.stdout).toMatch(/^private key: [^]* is not sent to [^]*; it is your\smove\n/);
  });

  it('svc doctor warns of keys of two tenants in one profile, as svc whoami does', async () => {
    const { baseUrl } = await startSandboxHere({ tenants: ['test', 'production'] });
    const env = { SVC_PRIVATE_API_KEY: 'sandbox-private-key', SVC_MANAGEMENT_API_KEY: 'sandbox-2-management-key' };
    succeeded(await svcHere(['api', 'POST', '/account-updater/jobs'], { baseUrl, env }));
    const run = ended(await svcHere(['doctor', '-o', 'json'], { baseUrl, env, clock: systemClock }), 0, {
      stderr: expect.stringMatching(/^tenant: .*; it is your move\n/),
    });
    expect(JSON.parse(run.stdout)).toContainEqual(
      expect.objectContaining({
        check: 'tenant',
        result: 'warning',
        found: expect.stringMatching(/^the private key belongs to tenant \S+, not to the PRODUCTION tenant/),
        next: expect.stringContaining('login --profile <name>'),
      }),
    );
  });
});
