import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

it('R17: svc au download waits as long as the store requests, unless that is longer than --max-wait', async () => {
  let refusals = 0;
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    if (incoming.method !== 'GET' || !incoming.url?.startsWith('/store/') || refusals <= 0) return proceed();
    refusals -= 1;
    outgoing.writeHead(503, { 'retry-after': '60' }).end();
  };
  const { svc, home, clock, jobs } = await openQuickDesk({ intercept });
  succeeded(await svc('au submit tokens.csv --wait'));
  const [job = ''] = jobs();
  refusals = 1;
  ended(await svc(`au download ${job} --out refused.csv --max-wait 10s`), 7, {
    error: {
      code: 'rate_limited',
      message: expect.stringMatching(/ asks to wait 60 s, longer than 10 s$/),
      retry_after_s: 60,
    },
  });
  expect(existsSync(home.file('refused.csv'))).toBe(false);
  refusals = 1;
  const before = clock.now();
  succeeded(await svc(`au download ${job} --out waited.csv`));
  expect(clock.now() - before).toBeGreaterThanOrEqual(60_000);
  expect(existsSync(home.file('waited.csv'))).toBe(true);
});
