import { beforeAll, describe, it, vi } from 'vitest';
import { liveThrough, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

// A low limit splits even small files into several parts.
vi.mock('../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 4,
}));

const HISTORIES = 4;

beforeAll(enterWorlds);

describe('in simulated worlds the files of a cycle overlap', () => {
  it(`R79: each tenant pays once for a row in a cycle, unless the operator wants more, in ${HISTORIES} histories`, async ({
    expect,
  }) => {
    await expect(liveThrough('cycles', HISTORIES)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('cycles')).resolves.toBeUndefined();
  });
});
