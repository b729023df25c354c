import type { Interceptor } from '../../../src/emulator/options.ts';
import { describe, expect, it } from 'vitest';
import { ended, errorIn } from '../../support/run-here.ts';
import { answerLost } from '../support.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Opens a desk whose only upload got no response, and whose service does not show its job from then on. The list shows
 * an old job of the same tenant, so that it counts as read.
 */
async function openForgotten() {
  let isForgotten = false;
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (incoming.method === 'PUT' && !isForgotten) {
      isForgotten = true;
      return answerLost(incoming, outgoing, proceed);
    }
    if (incoming.method !== 'GET' || !path.includes('/account-updater/jobs') || !isForgotten) return proceed();
    const old = {
      id: 'old',
      tenant_id: desk.sandbox.tenants[0]?.id,
      status: 'completed',
      created_at: '2020-01-01T00:00:00Z',
    };
    const list = { pagination: { next: null, page_size: 100 }, data: [old] };
    const [status, body] = path.endsWith('/jobs') ? [200, list] : [404, { title: 'Not Found', status: 404 }];
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const desk: QuickDesk = await openQuickDesk({ intercept });
  ended(await desk.svc('au submit tokens.csv --cycle 2026-12'), 9);
  return { desk, job: desk.jobs()[0] ?? '' };
}

describe('an upload in doubt whose job the service no longer shows', () => {
  it.each([
    ['2 hours', 2 * HOUR],
    ['6 days', 6 * DAY],
  ])(
    'R58: an upload in doubt is not sent again %s later while the list shows no job newer than its own',
    async (_, age) => {
      const { desk } = await openForgotten();
      await desk.clock.advance(age);
      for (const line of ['au resume', 'au submit tokens.csv --cycle 2026-12', 'au resume'])
        ended(await desk.svc(line), 9);
      expect(desk.uploads()).toBe(1);
    },
  );

  it.each([
    ['7 days', 7 * DAY + HOUR],
    ['40 days', 40 * DAY],
  ])(
    'R58: an upload in doubt is never sent again %s later, since its job may be finished and forgotten',
    async (_, age) => {
      for (const isPolledBefore of [false, true]) {
        const { desk, job } = await openForgotten();
        if (isPolledBefore) await desk.svc('au resume');
        await desk.clock.advance(age);
        for (const line of [
          'au resume',
          'au resume 2026-12',
          'au submit tokens.csv --cycle 2026-12',
          'au resume 2026-12 --wait',
          'au resume',
        ]) {
          ended(await desk.svc(line), 9);
          await desk.clock.advance(HOUR);
        }
        const { stderr } = await desk.svc('au resume 2026-12 --wait');
        expect(errorIn({ stderr })).toMatchObject({ retryable: false, next: `svc au status ${job}` });
        expect(desk.uploads()).toBe(1);
      }
    },
  );
});
