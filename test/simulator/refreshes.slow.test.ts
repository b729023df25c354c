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

describe('in simulated worlds machines share a ledger and a refresh directory', () => {
  it(
    `R84 and R85: a refresh goes on without its state, and sends no token that its cycle made, in ${HISTORIES} histories`,
    { timeout: 600_000 + HISTORIES * 10_000 },
    async ({ expect }) => {
      await expect(liveThrough('refreshes', HISTORIES)).resolves.toBeUndefined();
    },
  );

  it('a refresh of which two requests wait for the same job has its results once, in the history of seed 1948529182', async ({
    expect,
  }) => {
    await expect(live('refreshes', 1_948_529_182)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('refreshes')).resolves.toBeUndefined();
  });
});
