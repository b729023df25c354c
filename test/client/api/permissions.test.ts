import { describe, expect, it } from 'vitest';
import { AnyEndpoint } from '../../../src/client/api/any-endpoint.ts';
import { READ_PERMISSIONS, tryPermissions } from '../../../src/client/api/permissions.ts';
import { serve } from '../../support/fault-server.ts';
import { answer, json } from '../../support/fault-steps.ts';
import { makeCore } from '../http/support/core.ts';

const PRIVATE = READ_PERMISSIONS.filter(({ kind }) => kind === 'private');
const JOBS = json({ data: [], pagination: { next: null } });
const PAGE = '<html><title>Welcome</title></html>';
const problem = (status: number) => answer(status, JSON.stringify({ title: 'No', detail: 'Not here.' }));

/** Tries the permissions of a private key, with one response for the session and one for the jobs. */
async function statuses(session: ReturnType<typeof json>, jobs: ReturnType<typeof json>): Promise<unknown[]> {
  const server = await serve(({ path }) => (path.includes('/3ds/') ? session : jobs));
  const tried = await tryPermissions({ any: new AnyEndpoint(makeCore(server.url)) }, PRIVATE);
  expect(tried.map(({ error, status }) => error === undefined || status !== 'allowed')).toEqual([true, true]);
  return tried.map(({ status }) => status);
}

describe('the permissions of a key', () => {
  it.each([
    ['the documented list', JOBS, 'allowed'],
    ["the service's 403", problem(403), 'forbidden'],
  ])("R87: the service's 404 of a session counts as allowed beside %s", async (_, jobs, status) => {
    expect(await statuses(problem(404), jobs)).toEqual(['allowed', status]);
  });

  it.each([
    ['a 403 of a gateway', answer(403, PAGE)],
    ['a 404', problem(404)],
    ['another object', json({})],
    ['no body', answer(204)],
    ['a page', answer(200, PAGE)],
  ])('R87: a 404 of a session beside %s proves no permission', async (_, jobs) => {
    expect(await statuses(problem(404), jobs)).toEqual(['unclear', 'unclear']);
  });

  it('R87: a 404 of a gateway proves no permission, whatever else is proven', async () => {
    expect(await statuses(answer(404, PAGE), JOBS)).toEqual(['unclear', 'allowed']);
  });

  it('R87: each read is allowed after its documented body only', () => {
    const bodies: Record<string, unknown> = {
      'log:read': [{ display_name: 'Card', value: 'card' }],
      'tenant:read': { id: 't', name: 'n' },
      'report:read': { token_report: {} },
      '3ds:session:read': { id: 's' },
      'account-updater:job:read': { data: [] },
    };
    for (const { name, isDocumented } of READ_PERMISSIONS)
      expect([bodies[name], {}, undefined, null, 'ok', [], [{}]].map(isDocumented), name).toEqual([
        true,
        ...Array.from({ length: 6 }, () => false),
      ]);
  });
});
