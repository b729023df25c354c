import { beforeAll, describe, it, vi } from 'vitest';
import { historiesOr, live, liveThrough, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

// A low limit splits even small files into several parts.
vi.mock('../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 4,
}));

// HISTORIES sets their number. Machines race at the same moment, so that a seed may have to be tried several times. A soak
// lives through many more.
const HISTORIES = historiesOr(2);

beforeAll(enterWorlds);

describe('in simulated worlds machines share a ledger, and lose their state directories', () => {
  it(
    `R58, R79 and R84: the tenant pays once for a row in a cycle, and every row is sent, in ${HISTORIES} histories`,
    { timeout: 600_000 + HISTORIES * 10_000 },
    async ({ expect }) => {
      await expect(liveThrough('machines', HISTORIES)).resolves.toBeUndefined();
    },
  );

  it('R72: a cycle whose time is over ends with the doubt about its jobs, in the history of seed 1600458518', async ({
    expect,
  }) => {
    await expect(live('machines', 1_600_458_518)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('machines')).resolves.toBeUndefined();
  });
});
