import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { refuseWith } from '../support.ts';
import { openQuickDesk } from './support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const MINUTE_MS = 60_000;
const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');
const REFRESH = 'au refresh export.csv --cycle 2026-12 --fail-on err=60%';

it.each([
  ['404', 9],
  ['404 from the store', 5],
  ['503 from the store', 8],
] as const)(
  'R43: svc au refresh --no-wait of a completed job whose kept results are gone ends at once after a %s',
  async (trouble, exitCode) => {
    let isTroubled = false;
    const desk = await openQuickDesk({
      intercept: (incoming, outgoing, proceed) => {
        const { method, url = '' } = incoming;
        const isRead = /\/account-updater\/jobs\/[^/]+$/.test(url);
        if (isTroubled && method === 'GET' && (trouble === '404' ? isRead : url.startsWith('/store/results/')))
          return trouble === '503 from the store'
            ? void outgoing.writeHead(503).end()
            : NOT_FOUND(incoming, outgoing, proceed);
        proceed();
      },
    });
    writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
    succeeded(await desk.svc(REFRESH));
    const [job = ''] = desk.jobs();
    rmSync(desk.files(job).results);
    isTroubled = true;
    const began = desk.clock.now();
    ended(await desk.svc(`${REFRESH} --no-wait`), exitCode);
    expect(desk.clock.now() - began).toBeLessThan(2 * MINUTE_MS);
    isTroubled = false;
    succeeded(await desk.svc(`${REFRESH} --no-wait`));
    expect([desk.uploads(), existsSync(desk.home.file('refresh/2026-12/results.csv'))]).toEqual([1, true]);
  },
);
