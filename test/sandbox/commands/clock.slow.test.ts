import { beforeEach, describe, expect, it } from 'vitest';
import { Home } from '../../support/svc.ts';
import { rowsIn } from '../../support/run-here.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});

const json = async (argv: readonly string[]) =>
  JSON.parse((await home.svc([...argv, '-o', 'json'])).stdout) as Record<string, string> & { ahead_seconds: number };

describe('svc sandbox clock', () => {
  it('svc sandbox clock moves the embedded sandbox: a job that was not given its file in time is gone', async () => {
    const job = await json(['--sandbox', 'au', 'create']);
    expect((await home.svc(['--sandbox', 'au', 'status', job['id'] ?? ''])).code).toBe(0);
    const moved = await json(['sandbox', 'clock', '+1h']);
    expect(Date.parse(moved['after'] ?? '') - Date.parse(moved['before'] ?? '')).toBe(3_600_000);
    const gone = await home.svc(['--sandbox', 'au', 'status', job['id'] ?? '']);
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining("the sandbox's clock is 1h ahead") });
    const shown = await json(['sandbox', 'clock']);
    expect([shown['before'] === shown['after'], shown.ahead_seconds]).toEqual([true, 3600]);
    expect(await json(['sandbox', 'clock', '--at', '2030-01-01T00:00:00Z'])).toMatchObject({
      after: '2030-01-01T00:00:00.000Z',
    });
    expect((await json(['sandbox', 'clock', '--reset'])).ahead_seconds).toBe(0);
  });
});

describe('SVC_SANDBOX_FAULTS', () => {
  it('SVC_SANDBOX_FAULTS makes the embedded sandbox go wrong, and the tool cope', async () => {
    const env = { SVC_SANDBOX_FAULTS: '503@GET /tenants/self:#1' };
    expect((await home.svc(['--sandbox', 'tenant', '-o', 'json'], { env })).code).toBe(0);
    const { stdout } = await home.svc(['sandbox', 'requests', '-o', 'jsonl']);
    const statuses = rowsIn<{ status: number }>(stdout).map(({ status }) => status);
    expect(statuses).toEqual([503, 200]);
  });
});
