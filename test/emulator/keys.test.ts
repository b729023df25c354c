import { describe, expect, it } from 'vitest';
import { keyTypeOf, SANDBOX_KEYS } from '../../src/emulator/keys.ts';
import { API_ROUTES } from '../../src/emulator/routes/api.ts';
import type { ApiRoute } from '../../src/emulator/endpoint.ts';
import { MANAGEMENT, PRIVATE, problemOf, raw, sandbox, START } from './harness.ts';

const EXPIRED = SANDBOX_KEYS.flatMap(({ value, expired }) => (expired ? [value] : []));

describe('keys and paths', () => {
  it('the sandbox responds 401 without a key, to an unknown and to an expired one, on every endpoint', async () => {
    const { call } = await sandbox();
    const keys = [undefined, 'something-else', '', ...EXPIRED];
    // Each endpoint gets two of the keys in turn, and together they get each key several times.
    const exchanges = API_ROUTES.flatMap(({ method, path }, at) =>
      [at, at + 2].map((next) => ({ method, path, key: keys[next % keys.length] })),
    );
    for (const { method, path, key } of exchanges) {
      const headers: Record<string, string> = key === undefined ? {} : { 'svc-api-key': key };
      const answer = await call(path.replace(':id', 'x'), { method, headers });
      expect([method, path, answer.status]).toEqual([method, path, 401]);
      expect(await problemOf(answer)).toMatchObject({ title: 'Unauthorized', status: 401 });
    }
  });

  it('R09: the sandbox responds 403 naming the permission, and the kind where that is wrong', async () => {
    const shared = await sandbox();
    let refused = 0;
    for (const { method, path, permission } of API_ROUTES)
      for (const key of tellingKeys(permission)) {
        const kind = keyTypeOf(permission);
        // Once the tenant is deleted, no key is accepted.
        const { call } = method === 'DELETE' ? await sandbox() : shared;
        const headers = { 'svc-api-key': key.value };
        const answer = await call(path.replace(':id', 'x'), { method, headers });
        const allowed = key.kind === kind && key.permissions.includes(permission);
        expect([key.value, method, path, answer.status !== 403]).toEqual([key.value, method, path, allowed]);
        if (allowed) continue;
        refused += 1;
        const { detail } = await problemOf(answer);
        expect(detail).toContain(permission);
        expect(detail?.includes(`${kind} key`)).toBe(key.kind !== kind);
      }
    expect(refused).toBeGreaterThan(10);
  });

  it('the sandbox responds 404 to an unknown path and 405 to a known one with another method', async () => {
    const { call } = await sandbox();
    for (const path of ['/', '/log', '/logs/x', '/account-updater', '/account-updater/jobs/a/b', '//logs'])
      expect([path, (await call(path, { headers: MANAGEMENT })).status]).toEqual([path, 404]);
    const answer = await call('/account-updater/jobs', { method: 'PATCH', headers: PRIVATE });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, POST');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect((await call('/account-updater/jobs/x', { method: 'DELETE', headers: PRIVATE })).status).toBe(405);
  });

  it('the sandbox gives each response an id and the time of its own clock', async () => {
    const { call, clock } = await sandbox();
    const first = await call('/tenants/self', { headers: MANAGEMENT });
    clock.ms += 26 * 3_600_000;
    const second = await call('/nothing');
    expect(Date.parse(first.headers.get('date') ?? '')).toBe(START);
    expect(Date.parse(second.headers.get('date') ?? '')).toBe(START + 26 * 3_600_000);
    expect(first.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
  });

  it('the sandbox responds to HEAD with the head alone', async () => {
    const { url } = await sandbox();
    const answer = await raw(`${url}/tenants/self`, { method: 'HEAD', headers: MANAGEMENT });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(100);
  });

  it('the sandbox has keys that cannot be mistaken for secrets', () => {
    for (const { value } of SANDBOX_KEYS) expect(value).toMatch(/^sandbox-(management|private)-key(-[a-z0-9-]+)?$/);
    expect(new Set(SANDBOX_KEYS.map((key) => key.value)).size).toBe(SANDBOX_KEYS.length);
  });

  it('every endpoint takes its kind of key, and responds with a body except after a deletion', async () => {
    const { call, createJob } = await sandbox();
    const job = await createJob();
    // Other tests cover 3-D Secure.
    const routes = API_ROUTES.filter(({ path }) => !/3ds|tokens/.test(path));
    for (const route of routes.toSorted((a, b) => deletesLast(a) - deletesLast(b))) {
      const { method, path, permission, status = 200 } = route;
      const headers = keyTypeOf(permission) === 'management' ? MANAGEMENT : PRIVATE;
      const body = method === 'PUT' ? '{"name":"A name"}' : null;
      const answer = await call(path.replace(':id', job.id), { method, headers, body });
      expect([path, answer.status]).toEqual([path, status]);
      expect([path, (await answer.text()) === '']).toEqual([path, method === 'DELETE']);
    }
  });
});

/** Returns keys that are good: of each kind one with this permission and one without it, where the sandbox has them. */
function tellingKeys(permission: ApiRoute['permission']) {
  const good = SANDBOX_KEYS.filter(({ expired }) => !expired);
  return new Map(good.map((key) => [`${key.kind} ${key.permissions.includes(permission)}`, key])).values();
}

function deletesLast({ method }: ApiRoute): number {
  return Number(method === 'DELETE');
}
