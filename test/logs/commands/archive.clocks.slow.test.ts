import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/system.ts';
import { marginMs } from '../../../src/logs/archive/records/coverage.ts';
import { errorIn, type HereResult, svcHere } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';
import { Home } from '../../support/svc.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';

const DAY = 86_400_000;
const home = new Home();
let server: LogServer;
let place: string;
let number = 0;

beforeEach(async () => {
  server = await startLogServer();
  place = home.file(`clocks-${(number += 1)}`);
  for (const days of [2, 40, 80]) server.logs.push(logAgo(days * DAY, `${days} days`, { tenant_id: 't-1' }));
});

function archive(...argv: string[]): Promise<HereResult> {
  return svcHere(['logs', 'archive', place, ...argv], { baseUrl: new URL(server.url), clock: systemClock });
}

function maxAge(start: number): Promise<HereResult> {
  return svcHere(['logs', 'verify', place, '--max-age', '2h'], { clock: new FakeClock({ start }) });
}

async function archived(): Promise<string[]> {
  const found = await svcHere(['logs', 'search', place, '--jq', '.message']);
  return found.stdout.trimEnd().split('\n');
}

describe('svc logs archive --keep beside a wrong clock', () => {
  it("svc logs archive --keep drops nothing when the service's clock is 550 days ahead, and says so", async () => {
    expect(await archive('--since', '90d', '--retention', '200d')).toMatchObject({ code: 0, stderr: '' });
    server.aheadMs = 550 * DAY;
    const apart = /--keep dropped nothing: the clocks of this machine and of the service are (550d|549d 23h) apart/;
    const { code, stdout, stderr } = await archive('--keep', '1M');
    expect([code, stderr]).toEqual([0, expect.stringMatching(apart)]);
    expect(JSON.parse(stdout)).toMatchObject({ dropped: null });
    const strict = await archive('--keep', '1M', '--strict');
    expect([strict.code, errorIn(strict)]).toEqual([
      14,
      expect.objectContaining({ message: expect.stringMatching(apart), next: 'svc doctor' }),
    ]);
    expect(await archived()).toEqual(['80 days', '40 days', '2 days']);
  });
});

it.each([3 / 24, 4 * 365, -20_000])(
  'R28: a new archive has all entries when the Date header of its first response is wrong by %d days',
  async (days) => {
    for (const hours of [1, 23]) server.logs.push(logAgo((hours * DAY) / 24, `${hours} hours`, { tenant_id: 't-1' }));
    Object.defineProperty(server, 'aheadMs', { get: () => (server.requests === 1 ? days * DAY : 0) });
    const first = await archive('--strict');
    expect(first.code).toBe(0);
    expect(await archived()).toEqual(['23 hours', '1 hours']);
    expect(server.requests).toBeLessThan(1_000);
  },
);

it.each([1, -1])(
  "R31: a new archive of a busy log has no gap when this machine's clock is wrong by %d hours",
  async (hours) => {
    server.aheadMs = hours * 3_600_000;
    const edge = Date.now() + server.aheadMs - DAY;
    // The first range that the archive reads has entries already.
    for (let at = edge; at < edge + 300_000; at += 5_000)
      server.logs.push({ tenant_id: 't-1', message: 'busy', created_at: new Date(at).toISOString() });
    // A new entry proves the service's time.
    server.logs.push(logAgo(10_000 - server.aheadMs, 'newest', { tenant_id: 't-1' }));
    const { code, stdout, stderr } = await archive('--strict');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ gaps: [] });
    expect((await svcHere(['logs', 'verify', place, '--strict'])).code).toBe(0);
  },
);

it('R31: a new archive of the last 24 hours has no gap, and begins with what the service still has', async () => {
  server.logs.push(logAgo(DAY - 30_000, 'first', { tenant_id: 't-1' }));
  const { code, stdout, stderr } = await archive('--since', '24h', '--strict');
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({ entries: 1, gaps: [] });
  const verified = await svcHere(['logs', 'verify', place, '--strict', '-o', 'jsonl']);
  const [covered] = verified.stdout.split('\n').map((line) => JSON.parse(line || '{}') as Record<string, unknown>);
  const begun = (JSON.parse(stdout) as { readonly read_from: string }).read_from;
  expect([verified.code, covered?.['kind'], String(covered?.['from']) > begun]).toEqual([0, 'covered', true]);
});

it('R31: an archive records what the service deleted, also beside a machine whose clock is days behind', async () => {
  expect((await archive('--since', '1h')).code).toBe(0);
  server.aheadMs = 3 * DAY;
  // Without an entry, nothing but the Date header says that three days have passed.
  expect((await archive('--strict')).code).toBe(14);
  server.logs.push(logAgo(10_000 - 3 * DAY, 'newest', { tenant_id: 't-1' }));
  const { code, stdout } = await archive('--strict');
  const { gaps } = JSON.parse(stdout) as { readonly gaps: readonly { readonly from: string; readonly to: string }[] };
  expect([code, gaps.length]).toEqual([14, 1]);
  expect(Date.parse(gaps[0]?.from ?? '')).toBeLessThan(Date.now());
  expect(Date.parse(gaps[0]?.to ?? '')).toBeGreaterThan(Date.now() + 2 * DAY - 60_000);
  expect(await archived()).toEqual(['newest']);
  expect((await svcHere(['logs', 'verify', place, '--strict'])).code).toBe(14);
});

const UNPROVEN = expect.stringMatching(
  /^the archive ends at .*: nothing but the Date header shows that it is 18h 59m later for the service$/,
) as string;

it('R76: svc logs archive does not say that an archive is up to date which ends before the time of the service', async () => {
  expect((await archive('--since', '1h', '-o', 'table')).stdout).toContain('archive up to date: ');
  server.aheadMs = 19 * (DAY / 24);
  const table = await archive('-o', 'table');
  expect([table.code, table.stdout]).toEqual([0, expect.not.stringContaining('archive up to date')]);
  expect(table.stderr).toContain('warning: the archive ends at ');
  const margin = await archive('--retention-margin', '12h');
  expect([margin.code, errorIn(margin)['hint']]).toEqual([10, 'Archive more often.']);
});

it('svc logs archive --follow shows on a terminal how far the archive ends before the time of the service', async () => {
  expect((await archive('--since', '1h')).code).toBe(0);
  const ended = new AbortController();
  const clock = new FakeClock({ start: Date.now() });
  Object.defineProperty(server, 'aheadMs', { get: () => clock.now() - Date.now() + 19 * (DAY / 24) });
  const sleep = clock.sleep.bind(clock);
  clock.sleep = (...pause) => {
    if (server.requests > 60) ended.abort(new SvcError('interrupted', 'interrupted'));
    return sleep(...pause);
  };
  const argv = ['logs', 'archive', place, '--follow'];
  const options = { baseUrl: new URL(server.url), clock, columns: 100, signal: ended.signal };
  const { code, stderr } = await svcHere(argv, options);
  expect([code, stderr]).toEqual([130, expect.stringMatching(/archive: 1\dh.* behind, .*next poll/)]);
  expect(stderr).not.toContain('up to date');
});

it('R76: an archive covers no time that only false Date headers show, and its next run has no warning', async () => {
  const HOUR = DAY / 24;
  expect((await archive('--since', '3h')).code).toBe(0);
  server.aheadMs = 19 * HOUR;
  const ahead = await archive('--strict');
  expect([ahead.code, errorIn(ahead)]).toEqual([
    14,
    expect.objectContaining({ message: UNPROVEN, next: 'svc doctor' }),
  ]);
  const { read_to: readTo } = JSON.parse(ahead.stdout) as { readonly read_to: string };
  expect(Date.parse(readTo)).toBeLessThan(Date.now() + 60_000);
  expect((await maxAge(Date.now())).code).toBe(0);
  expect((await maxAge(Date.now() + 19 * HOUR)).code).toBe(14);
  server.aheadMs = 0;
  expect(await archive('--strict')).toMatchObject({ code: 0, stderr: '' });
});

describe('the time until entries are lost, twenty hours after the last run', () => {
  const HOUR = DAY / 24;

  it.each([
    { header: 'an hour behind', wrongMs: -HOUR },
    { header: 'in 2030', wrongMs: 4 * 365 * DAY },
    { header: 'in 1970', wrongMs: -20_000 * DAY },
    { header: 'an hour behind, beside a machine that is two hours ahead', wrongMs: -HOUR, aheadMs: -2 * HOUR },
  ])('svc logs archive promises no time that is not left, whichever one Date header is $header', async (wrong) => {
    const { wrongMs, aheadMs = 0 } = wrong;
    const clock = { aheadMs: aheadMs - 20 * HOUR, begun: 0, wrong: 0 };
    Object.defineProperty(server, 'aheadMs', {
      get: () => clock.aheadMs + (server.requests - clock.begun === clock.wrong ? wrongMs : 0),
    });
    for (let last = 1; clock.wrong < last; last = server.requests - clock.begun) {
      Object.assign(clock, { aheadMs: aheadMs - 20 * HOUR, begun: server.requests, wrong: clock.wrong + 1 });
      place = home.file(`clocks-${(number += 1)}`);
      const { wrong: response } = clock;
      clock.wrong = 0;
      expect(await archive()).toMatchObject({ code: 0 });
      Object.assign(clock, { aheadMs, begun: server.requests, wrong: response });
      const { code, stdout, stderr } = await archive('--retention-margin', '3h');
      expect([response, code], stderr).toEqual([response, 0]);
      const { hours_left_before: before = 0, hours_left: after = 0 } = JSON.parse(stdout) as Record<string, number>;
      expect([response, before], stderr).toEqual([response, expect.closeTo(4, 1)]);
      expect(after).toBeLessThanOrEqual(24);
      expect(after).toBeGreaterThan(22.9);
    }
    expect(clock.wrong).toBeGreaterThan(1);
  });
});

it('entries that are not archived are kept no longer than the service keeps any, wherever its clock is', () => {
  expect([marginMs(DAY, DAY, DAY / 2), marginMs(DAY, DAY, DAY + 1), marginMs(0, DAY, 3 * DAY)]).toEqual([
    DAY,
    DAY - 1,
    -2 * DAY,
  ]);
});
