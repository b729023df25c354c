import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { refuseWith } from '../support.ts';

const MINUTE_MS = 60_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const SUBMIT = 'au submit b.csv --cycle 2026-12';
const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');

/**
 * Opens a desk with a run that needs the jobs of two files, which are completed. Once the service denies them, or lags, a read of
 * a job gets 404, or says "processing", and the list still shows it as completed. `lost` says that the machine has no run.
 */
async function openListed({ lost = false } = {}) {
  const service = { denies: false, lagsUntil: 0, hasStore: true };
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
      if (!service.hasStore && url.startsWith('/store/results/')) return void outgoing.writeHead(503).end();
      proceed();
    },
  });
  writeFileSync(desk.home.file('a.csv'), `${[HEADER, ...ROWS.slice(0, 5)].join('\n')}\n`);
  writeFileSync(desk.home.file('b.csv'), `${[HEADER, ...ROWS.slice(3, 9)].join('\n')}\n`);
  expect(await desk.svc('au submit a.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  const [first = ''] = desk.runIds();
  expect(await desk.svc(SUBMIT)).toMatchObject({ code: 0 });
  const run = desk.runIds().find((id) => id !== first) ?? '';
  await desk.clock.advance(MINUTE_MS);
  if (lost) rmSync(desk.home.file('.local/state/svc/runs'), { recursive: true });
  const timed = async (line: string) => {
    const began = desk.clock.now();
    const ended = await desk.svc(line);
    return { ...ended, tookMs: desk.clock.now() - began };
  };
  return { ...desk, service, run, timed };
}

describe('a completed job that the list shows and whose own read gets 404', () => {
  it.each(['au resume RUN', 'au resume', 'au resume 2026-12', 'au download RUN --out x.csv', SUBMIT])(
    'R43: svc %s ends at once, since it was not told to wait',
    async (line) => {
      const { service, run, timed, record, uploads } = await openListed();
      service.denies = true;
      const { code, stderr, tookMs } = await timed(line.replace('RUN', run));
      expect(code, stderr).toBe(line === SUBMIT ? 0 : 9);
      expect(tookMs).toBeLessThan(MINUTE_MS);
      expect(stderr).not.toContain('abandon');
      service.denies = false;
      expect((await timed(`au resume ${run}`)).code).toBe(0);
      expect([record(run).parts.map(({ state }) => state), uploads()]).toEqual([['downloaded', 'downloaded'], 2]);
    },
  );

  it.each([
    ['au resume RUN', '404'],
    [`${SUBMIT} --out b.results.csv`, '404'],
    ['au resume RUN', '503 from the store'],
    [`${SUBMIT} --out b.results.csv`, '503 from the store'],
  ])('R43: svc %s, whose kept results are gone, ends at once after a %s', async (line, trouble) => {
    const { service, run, timed, home } = await openListed();
    expect(await timed(`au resume ${run} --wait --out b.results.csv`)).toMatchObject({ code: 0 });
    for (const part of [1, 2]) rmSync(home.file(`.local/state/svc/runs/${run}/results-000${part}.csv`));
    rmSync(home.file('b.results.csv'));
    Object.assign(service, trouble === '404' ? { denies: true } : { hasStore: false });
    const { code, stderr, tookMs } = await timed(line.replace('RUN', run));
    expect(code, stderr).toBe(trouble === '404' ? 9 : 8);
    expect(tookMs).toBeLessThan(5 * MINUTE_MS);
    Object.assign(service, { denies: false, hasStore: true });
    expect((await timed(line.replace('RUN', run))).code).toBe(0);
  });

  it.each(['au resume RUN --wait', `${SUBMIT} --wait --out b.results.csv`])(
    'R43: svc %s ends with the doubt after some minutes, and does not advise to free rows that were processed',
    async (line) => {
      const { service, run, timed, record } = await openListed();
      service.denies = true;
      const { code, stderr, tookMs } = await timed(line.replace('RUN', run));
      expect(code, stderr).toBe(9);
      expect([tookMs > 5 * MINUTE_MS, tookMs < 10 * MINUTE_MS]).toEqual([true, true]);
      expect(errorIn({ stderr })).toMatchObject({
        code: 'outcome_unknown',
        message: expect.stringContaining('is not found, though it has its file'),
        next: `svc au status ${run}`,
        retryable: true,
      });
      expect(stderr).not.toContain('abandon');
      expect(record(run).parts.map(({ state }) => state)).toEqual(['uploaded', 'uploaded']);
    },
  );

  it('R43: the wait ends after some minutes, too, where another part has results of the job that the operator accepted', async () => {
    const { service, run, timed, change, home } = await openListed();
    expect(await timed(`au resume ${run} --wait --out b.results.csv`)).toMatchObject({ code: 0 });
    rmSync(home.file('b.results.csv'));
    const accepted = 'not a result file\n';
    change(run, (record) => {
      const [own, joined] = [false, true].map((is) => record.parts.find((part) => (part.joined !== undefined) === is));
      if (own === undefined || joined?.results === undefined) throw new Error('the run has other parts');
      Object.assign(record, { results: undefined });
      // No other part takes these results, which are not proven right for its rows.
      writeFileSync(home.file(`.local/state/svc/runs/${run}/${joined.results.file}`), accepted);
      const sha256 = createHash('sha256').update(accepted).digest('hex');
      Object.assign(joined.results, { bytes: accepted.length, sha256, proof: 'operator' });
      Object.assign(own, { state: 'uploaded', results: undefined });
      record.parts.push({ ...joined, number: 3, state: 'uploaded', results: undefined });
    });
    service.denies = true;
    const { code, stderr, tookMs } = await timed(`au resume ${run} --wait`);
    expect(code, stderr).toBe(9);
    expect([tookMs > 5 * MINUTE_MS, tookMs < 10 * MINUTE_MS], String(tookMs)).toEqual([true, true]);
  });
});

describe('a job that the list shows as completed and its own read as processing', () => {
  it.each([
    ['au resume RUN --wait', false],
    [`${SUBMIT} --wait --out b.results.csv`, false],
    [`${SUBMIT} --wait --out b.results.csv`, true],
    ['au resume 2026-12 --wait', true],
  ])('R43: svc %s waits for it, also without the run on this machine (%s)', async (line, lost) => {
    const { service, run, timed, clock, uploads } = await openListed({ lost });
    service.lagsUntil = clock.now() + 10 * MINUTE_MS;
    const { code, stderr, tookMs } = await timed(line.replace('RUN', run));
    expect(code, stderr).toBe(0);
    expect([tookMs > 10 * MINUTE_MS, tookMs < 15 * MINUTE_MS, uploads()]).toEqual([true, true, 2]);
  });

  it.each([
    ['au resume RUN', false],
    ['au download RUN --out x.csv', false],
    ['au resume 2026-12', true],
    ['au resume 2026-12 --wait --timeout 1m', true],
  ])('R72: svc %s ends with 11 and the command that waits, also without the run here (%s)', async (line, lost) => {
    const { service, run, timed, clock } = await openListed({ lost });
    service.lagsUntil = clock.now() + 10 * MINUTE_MS;
    const { code, stderr } = await timed(line.replace('RUN', run));
    expect(code, stderr).toBe(11);
    expect(errorIn({ stderr })).toMatchObject({
      code: 'pending',
      next: `svc au resume ${lost ? '2026-12' : run} --wait`,
    });
  });
});

describe('a completed job of a cycle without a run here, that the list shows and whose own read gets 404', () => {
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
      message: expect.stringContaining('though the service just showed it as completed'),
      next: 'svc au resume 2026-12 --wait',
      retryable: true,
    });
    expect(stderr).not.toContain('abandon');
    service.denies = false;
    expect((await timed(line)).code).toBe(0);
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
