import { describe, expect, it } from 'vitest';
import { answer, json, reset } from '../../support/fault-steps.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { methods, TENANT, tenantServer, type TenantScript } from './support.ts';

const PRODUCTION = { ...TENANT, type: 'production', name: 'Acme' };

async function remove(argv: readonly string[], script: TenantScript = {}) {
  const server = await tenantServer(script);
  const result = await svcHere(['tenant', 'delete', ...argv], { baseUrl: server.url });
  expect(server.whole('DELETE').length).toBeLessThanOrEqual(1);
  return { ...result, server };
}

describe('svc tenant delete, for a script', () => {
  it('R56: svc tenant delete in a script deletes the tenant whose id was given, once, and says which it was', async () => {
    const { code, stdout, stderr, server } = await remove(['--confirm', TENANT.id]);
    expect(code).toBe(0);
    expect(methods(server)).toBe('GET DELETE');
    expect(server.ledger[1]).toMatchObject({ path: '/tenants/self', bodyBytes: 0 });
    expect(stdout).toBe('');
    expect(stderr).toBe(`TEST Acme QA (${TENANT.id})\ndeleted the TEST tenant "Acme QA" (${TENANT.id})\n`);
  });

  it.each([answer(204), answer(200), json({}), json(null), answer(200, ' {\n} ')])(
    'svc tenant delete in a script takes a success that says nothing else for a deletion: %#',
    async (step) => {
      const { code, server } = await remove(['--confirm', TENANT.id], { delete: step });
      expect([code, methods(server)]).toEqual([0, 'GET DELETE']);
    },
  );

  it.each([
    ['the wrong id', ['--confirm', '4c0a2f6e-0000-4000-8000-000000000009']],
    ['the id cut short', ['--confirm', TENANT.id.slice(0, 8)]],
    ['the name in place of the id', ['--confirm', TENANT.name]],
    ['the wrong id and every other flag', ['--confirm', 'x', '--production', '--yes']],
  ])('R56: svc tenant delete in a script sends nothing but the read for %s', async (_, argv) => {
    const result = await remove(argv);
    expect([result.code, methods(result.server)]).toEqual([2, 'GET']);
    expect(errorIn(result)['message']).toContain('nothing was deleted');
  });

  it.each([
    ['no confirmation', []],
    ['--yes, which is not enough', ['--yes']],
    ['--production and --yes', ['--yes', '--production']],
    ['--no-input', ['--no-input']],
  ])('R54 and R56: svc tenant delete in a script sends nothing at all with %s', async (_, argv) => {
    const result = await remove(argv);
    expect([result.code, result.server.connections]).toEqual([2, 0]);
    const hint = expect.stringContaining('--confirm') as string;
    expect(errorIn(result)).toMatchObject({ code: 'input_needed', hint, next: 'svc tenant show' });
  });

  it('R62: svc tenant delete shows its request with --dry-run in a pipe, without --confirm', async () => {
    const { code, stdout, server } = await remove(['--dry-run']);
    expect([code, methods(server)]).toEqual([0, 'GET']);
    expect(stdout).toContain('DELETE');
  });

  it.each([
    ['a production tenant', PRODUCTION],
    ['a tenant of a new type', { ...TENANT, type: 'staging' }],
  ])('R56: svc tenant delete in a script wants --production for %s', async (_, tenant) => {
    const refused = await remove(['--confirm', TENANT.id], { reads: [tenant] });
    expect([refused.code, methods(refused.server)]).toEqual([2, 'GET']);
    expect(errorIn(refused)['hint']).toContain('--production');
    const done = await remove(['--confirm', TENANT.id, '--production'], { reads: [tenant] });
    expect([done.code, methods(done.server)]).toEqual([0, 'GET DELETE']);
  });

  it.each([
    ['a 401', answer(401), 4, 'unauthorized'],
    ['a 403', json({ detail: 'no' }, 403), 4, 'forbidden'],
    ['a 404', answer(404), 5, 'not_found'],
    ['a 409', json({ detail: 'has applications' }, 409), 6, 'rejected'],
    ['a 429', answer(429, '', { 'retry-after': '1' }), 7, 'rate_limited'],
    ['a 500', answer(500), 9, 'outcome_unknown'],
    ['a 503', answer(503, '', { 'retry-after': '1' }), 9, 'outcome_unknown'],
    ['a 408', answer(408), 9, 'outcome_unknown'],
    ['a 202, which only accepts it', answer(202), 9, 'outcome_unknown'],
    ['a 200 with an error', json({ error: 'the tenant has applications' }), 9, 'outcome_unknown'],
    ['a 200 with any JSON', json([]), 9, 'outcome_unknown'],
    ['a 200 with a page', answer(200, '<html>', { 'content-type': 'text/html' }), 9, 'outcome_unknown'],
    ['a reset before the answer', reset('request'), 9, 'outcome_unknown'],
    ['a reset amid the request', reset('head'), 9, 'outcome_unknown'],
    ['a redirect', answer(307, '', { location: 'http://127.0.0.1:1/' }), 8, 'bad_response'],
  ])('R56: svc tenant delete in a script sends one DELETE and no more after %s', async (_, step, exit, code) => {
    const result = await remove(['--confirm', TENANT.id], { delete: step });
    expect([result.code, errorIn(result)['code']]).toEqual([exit, code]);
    expect(methods(result.server)).toBe('GET DELETE');
    expect(String(errorIn(result)['next']).includes('tenant show')).toBe(exit === 9);
  });
});
