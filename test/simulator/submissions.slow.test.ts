import { beforeAll, describe, it, vi } from 'vitest';
import { live, liveThrough, repeat, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

// A low limit splits even small files into several parts.
vi.mock('../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 15,
}));

const HISTORIES = 8;

beforeAll(enterWorlds);

describe('in simulated worlds a file is submitted, crashed, repeated and resumed', () => {
  it(`R36, R58 and R59: a file is paid once, and its results are those of the service, in ${HISTORIES} histories`, async ({
    expect,
  }) => {
    await expect(liveThrough('submissions', HISTORIES)).resolves.toBeUndefined();
  });

  it('R58: a doubt while a gateway denies every job is settled, and its rows are sent once, in the history of seed 1516003700', async ({
    expect,
  }) => {
    await expect(live('submissions', 1_516_003_700)).resolves.toBeUndefined();
  });

  it('R58: a doubt about jobs that the service forgot ends on the word of the operator, in the history of seed 108797685', async ({
    expect,
  }) => {
    await expect(live('submissions', 108_797_685)).resolves.toBeUndefined();
  });

  it('R58: a doubt outlives no clock that was a day ahead, in the history of seed 810719885', async ({ expect }) => {
    await expect(live('submissions', 810_719_885)).resolves.toBeUndefined();
  });

  it('the same way each time', async ({ expect }) => {
    await expect(repeat('submissions', 1)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('submissions')).resolves.toBeUndefined();
  });
});
