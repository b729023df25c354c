import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, rowsIn, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

let home: Home;
let clock: FakeClock;
beforeEach(() => {
  home = new Home();
  clock = new FakeClock({ start: Date.now(), runs: true });
});

/** Runs a command in this process. Its pauses take no time, neither does the work of its sandbox. */
function svc(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<HereResult> {
  return svcIn(home.path, argv, { env, clock });
}

const json = async (argv: readonly string[]) =>
  JSON.parse((await svc([...argv, '-o', 'json'])).stdout) as Record<string, string> & { ahead_seconds: number };

describe('svc sandbox clock', () => {
  it('svc sandbox clock moves the embedded sandbox: a job that was not given its file in time is gone', async () => {
    const job = await json(['--sandbox', 'au', 'create']);
    expect((await svc(['--sandbox', 'au', 'status', job['id'] ?? ''])).code).toBe(0);
    const moved = await json(['sandbox', 'clock', '+1h']);
    expect(Date.parse(moved['after'] ?? '') - Date.parse(moved['before'] ?? '')).toBe(3_600_000);
    const gone = await svc(['--sandbox', 'au', 'status', job['id'] ?? '']);
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining("the sandbox's clock is 1h ahead") });
    const shown = await json(['sandbox', 'clock']);
    expect([shown['before'] === shown['after'], shown.ahead_seconds]).toEqual([true, 3600]);
    expect(await json(['sandbox', 'clock', '--at', '2030-01-01T00:00:00Z'])).toMatchObject({
      after: '2030-01-01T00:00:00.000Z',
    });
    expect((await json(['sandbox', 'clock', '--reset'])).ahead_seconds).toBe(0);
  });

  it('svc sandbox clock says whose clock it moved, and nothing when it moved none', async () => {
    const { stderr } = await svc(['sandbox', 'clock', '+1h']);
    expect(stderr).toMatch(/^moved the clock of the sandboxes on \/.*\/sandbox\n$/);
    expect((await svc(['sandbox', 'clock'])).stderr).toBe('');
  });

  it.each([['6'], ['+6'], ['+'], ['--at', 'later'], ['+1d', '--reset'], ['--at', '2h', '--reset'], ['+9999999d']])(
    'svc sandbox clock refuses %s %s',
    async (...words) => {
      const { code, stderr } = await svc(['sandbox', 'clock', ...words]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/must|cannot be combined/)]);
    },
  );
});

describe('the time of a sandbox', () => {
  it('the time of a sandbox never passes the year 9998, not even by several moves', async () => {
    await json(['sandbox', 'clock', '--at', '9998-12-25T00:00:00Z']);
    const { code, stderr } = await svc(['sandbox', 'clock', '+7d']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('between the years 1970 and 9998')]);
    expect((await json(['sandbox', 'clock']))['after']).toMatch(/^9998-12-25T/);
    expect((await svc(['--sandbox', 'tenant', '-o', 'json'])).code).toBe(0);
  });

  it.each(['clock', 'clock +9999999d', 'clock --reset', 'outcome', 'outcome --clear', 'requests', 'cards'])(
    'svc sandbox %s creates no sandbox where there is none',
    async (words) => {
      await svc(['sandbox', ...words.split(' ')]);
      await svc(['sandbox', ...words.split(' '), '--directory', home.file('elsewhere')]);
      expect([existsSync(home.file('.local')), existsSync(home.file('elsewhere'))]).toEqual([false, false]);
    },
  );
});

describe('SVC_SANDBOX_FAULTS', () => {
  it('SVC_SANDBOX_FAULTS makes the embedded sandbox go wrong, and the tool cope', async () => {
    const env = { SVC_SANDBOX_FAULTS: '503@GET /tenants/self:#1' };
    expect((await svc(['--sandbox', 'tenant', '-o', 'json'], env)).code).toBe(0);
    const { stdout } = await svc(['sandbox', 'requests', '-o', 'jsonl']);
    const statuses = rowsIn<{ status: number }>(stdout).map(({ status }) => status);
    expect(statuses).toEqual([503, 200]);
  });

  it('R05: SVC_SANDBOX_FAULTS is a usage error when it makes no sense, and does not repeat it', async () => {
    const { code, stderr } = await svc(['--sandbox', 'tenant'], { SVC_SANDBOX_FAULTS: 'canary' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('SVC_SANDBOX_FAULTS: fault 1: expected')]);
    expect(stderr).not.toContain('canary');
  });
});

describe('svc sandbox requests', () => {
  it('svc sandbox requests is an empty list before the first request', async () => {
    const { code, stdout, stderr } = await svc(['sandbox', 'requests']);
    expect([code, stdout, stderr]).toEqual([0, '', 'the sandbox has received no requests yet\n']);
  });
});
