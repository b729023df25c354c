import { expect, it } from 'vitest';
import { ended } from '../../support/run-here.ts';
import { refuseWith } from '../support.ts';
import { openQuickDesk } from './support.ts';

const REFUSED = refuseWith(400, '{"title":"Bad Request","status":400,"detail":"The cursor is not valid."}');

it('svc au jobs ends with 8 and says to run it again where the service refuses the cursor that it gave itself', async () => {
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) =>
      /[?&]start=/.test(incoming.url ?? '') ? REFUSED(incoming, outgoing, proceed) : proceed(),
  });
  await desk.svc('au create');
  await desk.svc('au create');
  ended(await desk.svc('au jobs --all --page-size 1'), 8, {
    error: {
      message: expect.stringMatching(/^the list broke off before its end: .*The cursor is not valid/),
      hint: expect.stringContaining('Run the same command again'),
      retryable: true,
    },
  });
  // A cursor that somebody typed may be wrong.
  ended(await desk.svc('au jobs --start typed'), 6);
});
