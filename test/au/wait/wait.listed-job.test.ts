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
 * Opens a desk with a run that needs the jobs of two files, which are completed. Once the service denies them, a read of a job
 * gets 404, and the list still shows it as completed.
 */
async function openListed() {
  const service = { denies: false, hasStore: true };
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => {
      const { method, url = '' } = incoming;
      if (service.denies && method === 'GET' && /\/account-updater\/jobs\/[^/]+$/.test(url))
        return NOT_FOUND(incoming, outgoing, proceed);
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
  const timed = async (line: string) => {
    const began = desk.clock.now();
    const ended = await desk.svc(line);
    return { ...ended, tookMs: desk.clock.now() - began };
  };
  return { ...desk, service, run, timed };
}

describe('a completed job that the list shows and whose own read gets 404', () => {
  it.each(['au resume RUN', 'au resume', 'au sync', 'au resume 2026-12', 'au download RUN --out x.csv', SUBMIT])(
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
});
