import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk } from '../commands/support.ts';
import { refuseWith } from '../support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const MINUTE_MS = 60_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');

/** Opens a desk with two jobs of a cycle, which the service processes for an hour, and does not show until a time. */
async function openHidden() {
  // Once `fine` more reads of jobs were answered, an outage of ten minutes begins.
  const service = { until: 0, isDown: false, fine: Infinity };
  const desk = await openQuickDesk({
    processingMs: 60 * MINUTE_MS,
    intercept: (incoming, outgoing, proceed) => {
      const { method, url = '' } = incoming;
      if (method !== 'GET' || !url.includes('/account-updater/jobs')) return proceed();
      if ((service.fine -= 1) < 0)
        Object.assign(service, { until: desk.clock.now() + 10 * MINUTE_MS, isDown: true, fine: Infinity });
      const isOver = desk.clock.now() >= service.until;
      if (!isOver && service.isDown) return void outgoing.writeHead(503).end();
      if (!isOver && /jobs\/[^/?]+$/.test(url)) return NOT_FOUND(incoming, outgoing, proceed);
      if (!isOver) {
        const old = { id: 'old', tenant_id: desk.sandbox.tenants[0]?.id, created_at: '2020-01-01T00:00:00Z' };
        const data = [{ ...old, status: 'completed' }];
        const list = { pagination: { next: null, page_size: 100 }, data };
        return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
      }
      proceed();
    },
  });
  for (const [name, rows] of [
    ['a.csv', ROWS.slice(0, 5)],
    ['b.csv', ROWS.slice(5, 9)],
  ] as const) {
    writeFileSync(desk.home.file(name), `${[HEADER, ...rows].join('\n')}\n`);
    succeeded(await desk.svc(`au submit ${name} --cycle 2026-12`));
  }
  await desk.clock.advance(MINUTE_MS);
  const timed = async (line: string) => {
    const began = desk.clock.now();
    const ended = await desk.svc(line);
    return { ...ended, tookMs: desk.clock.now() - began };
  };
  return { ...desk, service, timed };
}

const REFRESH = 'au refresh a.csv --cycle 2026-12 --fail-on err=100%';
const LINES = ['au resume --wait', 'au resume 2026-12 --wait'];

it('R43: svc au resume <cycle> names each job in doubt in one message, and frees no row', async () => {
  const { service, svc } = await openHidden();
  service.until = Infinity;
  ended(
    await svc('au resume 2026-12'),
    9,
    /the file of job \S+ with 5 rows of cycle 2026-12, sent by \S+ as a\.csv, and the service/,
    /not find the job; the same is true of 1 other job with 4 rows: [\w-]+"/,
  );
  service.until = 0;
  ended(await svc('au resume 2026-12 --wait'), 0, { uploads: 2 });
});

describe('svc au resume --wait, of everything or of a cycle', () => {
  it.each(LINES)('R43: svc %s waits on after a read that does not find a job', async (line) => {
    const { service, timed, clock, uploads } = await openHidden();
    service.until = clock.now() + 3 * MINUTE_MS;
    const { tookMs } = succeeded(await timed(line));
    expect([tookMs > 50 * MINUTE_MS, uploads()]).toEqual([true, 2]);
  });

  it.each(LINES)('R43: svc %s ends with 9 once jobs are missing for some minutes', async (line) => {
    const { service, timed, uploads } = await openHidden();
    service.until = Infinity;
    const { code, stderr, tookMs } = await timed(line);
    expect(code, stderr).toBe(9);
    expect([tookMs > 5 * MINUTE_MS, tookMs < 30 * MINUTE_MS, uploads()], String(tookMs)).toEqual([true, true, 2]);
  });

  it.each(
    [...LINES, 'au submit a.csv --cycle 2026-12 --wait', REFRESH].flatMap((line) =>
      [0, 1, 3].map((fine) => ({ line, fine })),
    ),
  )('R42: svc $line outlasts an outage that begins after $fine reads', async ({ line, fine }) => {
    const { service, timed } = await openHidden();
    service.fine = fine;
    ended(await timed(line), 0, 'no response (the service failed (503)');
  });

  it.each([0, 2])(
    'R42: svc au submit --wait outlasts an outage that begins after %i reads, where another machine may have sent the file',
    async (fine) => {
      const { service, timed, home } = await openHidden();
      rmSync(home.file('.local/state/svc/jobs'), { recursive: true });
      service.fine = fine;
      ended(await timed('au submit a.csv --cycle 2026-12 --wait'), 0, 'no response (the service failed (503)');
    },
  );

  it.each(['au resume', 'au resume 2026-12', 'au submit a.csv --cycle 2026-12', `${REFRESH} --no-wait`])(
    'svc %s, which does not wait, ends with 8 while the service does not respond',
    async (line) => {
      const { service, timed } = await openHidden();
      service.fine = 0;
      const { code, stderr, tookMs } = await timed(line);
      expect(code, stderr).toBe(8);
      expect(tookMs).toBeLessThan(MINUTE_MS);
    },
  );

  it.each(['au resume', 'au resume 2026-12'])('R43: svc %s ends at once without --wait', async (line) => {
    const { service, timed } = await openHidden();
    service.until = Infinity;
    const { code, stderr, tookMs } = await timed(line);
    expect(code, stderr).toBe(9);
    expect(tookMs).toBeLessThan(MINUTE_MS);
  });
});
