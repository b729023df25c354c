import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svcHere } from '../support/run-here.ts';

const ID = '5f0c1111-2222-4333-8444-555566667777';
const JOB = { id: ID, tenant_id: ID, status: 'frozen', created_at: '2026-01-31T10:00:00Z' };
const SESSION = { id: ID, type: 'customer', authentication: { authentication_status: 'postponed' } };

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1');
  const list = { data: [JOB], pagination: {} };
  const body = pathname.startsWith('/3ds') ? SESSION : pathname.endsWith('/jobs') ? list : JOB;
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
});
let baseUrl: URL;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => void server.close());

describe('a status that this version does not know', () => {
  it.each([
    ['au jobs', 'frozen'],
    [`au status ${ID}`, 'frozen'],
    [`3ds show ${ID}`, 'postponed'],
  ])('svc %s names it as unknown in a table, and leaves it as sent in JSON', async (line, status) => {
    const table = await svcHere([...line.split(' '), '-o', 'table'], { baseUrl });
    expect(table).toMatchObject({ code: 0, stdout: expect.stringContaining(`unknown (${status})`) });
    const json = await svcHere([...line.split(' '), '-o', 'json'], { baseUrl });
    expect(json.stdout).toContain(`"${status}"`);
    expect(json.stdout).not.toContain('unknown (');
  });
});
