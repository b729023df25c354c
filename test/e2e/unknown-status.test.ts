import { describe, expect, it } from 'vitest';
import { type FaultServer, serve } from '../support/fault-server.ts';
import { json } from '../support/fault-steps.ts';
import { svcHere } from '../support/run-here.ts';

const ID = '5f0c1111-2222-4333-8444-555566667777';
const JOB = { id: ID, tenant_id: ID, status: 'frozen', created_at: '2026-01-31T10:00:00Z' };
const SESSION = { id: ID, type: 'customer', authentication: { authentication_status: 'postponed' } };

function service(): Promise<FaultServer> {
  return serve(({ path }) =>
    json(path.startsWith('/3ds') ? SESSION : path.includes(ID) ? JOB : { data: [JOB], pagination: {} }),
  );
}

describe('a status that this version does not know', () => {
  it.each([
    ['au jobs', 'frozen'],
    [`au status ${ID}`, 'frozen'],
    [`3ds show ${ID}`, 'postponed'],
  ])('svc %s names it as unknown in a table, and leaves it as sent in JSON', async (line, status) => {
    const { url: baseUrl } = await service();
    const table = await svcHere([...line.split(' '), '-o', 'table'], { baseUrl });
    expect(table).toMatchObject({ code: 0, stdout: expect.stringContaining(`unknown (${status})`) });
    const json = await svcHere([...line.split(' '), '-o', 'json'], { baseUrl });
    expect(json.stdout).toContain(`"${status}"`);
    expect(json.stdout).not.toContain('unknown (');
  });
});
