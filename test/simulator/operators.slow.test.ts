import { beforeAll, describe, it, vi } from 'vitest';
import { liveThrough, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

// A low limit splits even small files into several parts.
vi.mock('../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 15,
}));

const HISTORIES = 5;

beforeAll(enterWorlds);

describe('in simulated worlds an operator has backups, other files, other keys and no network', () => {
  it(`R71, R72, R73, R74 and R75: an exit code stands on what the service knows, and nothing is paid twice, in ${HISTORIES} histories`, async ({
    expect,
  }) => {
    await expect(liveThrough('operators', HISTORIES)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('operators')).resolves.toBeUndefined();
  });
});
