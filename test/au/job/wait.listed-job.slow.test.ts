import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { refuseWith } from '../support.ts';

const MINUTE_MS = 60_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const SUBMIT = 'au submit b.csv --cycle 2026-12';
const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');

/**
 * Opens a desk with a file that needs the jobs of two files, which are completed. Once the service denies them, or lags, a read of
 * a job gets 404, or says "processing", and the list still shows it as completed. `lost` says that the machine has lost what it kept of them.
 */
async function openListed({ lost = false } = {}) {
  const service = { denies: false, lagsUntil: 0 };
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => {
      const { method, url = '' } = incoming;
      if (service.denies && method === 'GET' && /\/account-updater\/jobs\/[^/]+$/.test(url))
        return NOT_FOUND(incoming, outgoing, proceed);
      const [, id] = /\/account-updater\/jobs\/([^/?]+)$/.exec(url) ?? [];
      if (method === 'GET' && id !== undefined && desk.clock.now() < service.lagsUntil) {
        const job = { id, tenant_id: desk.sandbox.tenants[0]?.id, status: 'processing' };
        return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(job));
      }
      proceed();
    },
  });
  writeFileSync(desk.home.file('a.csv'), `${[HEADER, ...ROWS.slice(0, 5)].join('\n')}\n`);
  writeFileSync(desk.home.file('b.csv'), `${[HEADER, ...ROWS.slice(3, 9)].join('\n')}\n`);
  succeeded(await desk.svc('au submit a.csv --cycle 2026-12'));
  succeeded(await desk.svc(SUBMIT));
  await desk.clock.advance(MINUTE_MS);
  if (lost) rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  const timed = async (line: string) => {
    const began = desk.clock.now();
    const ended = await desk.svc(line);
    return { ...ended, tookMs: desk.clock.now() - began };
  };
  return { ...desk, service, timed };
}

describe('a job that the list shows as completed and its own read as processing', () => {
  it.each([
    [`${SUBMIT} --wait --out b.results.csv`, false],
    [`${SUBMIT} --wait --out b.results.csv`, true],
    ['au resume 2026-12 --wait', true],
  ])('R43: svc %s waits for it, also where this machine lost its files (%s)', async (line, lost) => {
    const { service, timed, clock, uploads } = await openListed({ lost });
    service.lagsUntil = clock.now() + 10 * MINUTE_MS;
    const { tookMs } = succeeded(await timed(line));
    expect([tookMs > 10 * MINUTE_MS, tookMs < 15 * MINUTE_MS, uploads()]).toEqual([true, true, 2]);
  });

  it.each([
    ['au resume 2026-12', false],
    ['au resume 2026-12', true],
    ['au resume 2026-12 --wait --timeout 1m', true],
  ])(
    'R72: svc %s ends with 11 and the command that waits, also where this machine lost its files (%s)',
    async (line, lost) => {
      const { service, timed, clock } = await openListed({ lost });
      service.lagsUntil = clock.now() + 10 * MINUTE_MS;
      ended(await timed(line), 11, { error: { code: 'pending', next: 'svc au resume 2026-12 --wait' } });
    },
  );
});

describe('a completed job of a cycle whose files this machine lost, that the list shows and whose own read gets 404', () => {
  it.each([
    ['au resume 2026-12', 0, MINUTE_MS],
    ['au resume 2026-12 --wait', 5 * MINUTE_MS, 10 * MINUTE_MS],
  ])('R43: svc %s ends with 9, and says that its rows are paid for', async (line, least, most) => {
    const { service, timed } = await openListed({ lost: true });
    service.denies = true;
    const { code, stderr, tookMs } = await timed(line);
    expect(code, stderr).toBe(9);
    expect([tookMs >= least, tookMs < most], String(tookMs)).toEqual([true, true]);
    expect(errorIn({ stderr })).toMatchObject({
      message: expect.stringContaining('though it just showed it as completed'),
      next: 'svc au resume 2026-12 --wait',
      retryable: true,
    });
    expect(stderr).not.toContain('abandon');
    service.denies = false;
    succeeded(await timed(line));
  });

  it('R43: svc au resume <cycle> --wait goes on once the job is found again', async () => {
    const { service, timed, clock } = await openListed({ lost: true });
    service.denies = true;
    const found = clock.sleep(3 * MINUTE_MS).then(() => (service.denies = false));
    const { code, stderr } = await timed('au resume 2026-12 --wait');
    await found;
    expect(code, stderr).toBe(0);
  });
});
