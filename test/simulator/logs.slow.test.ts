import { beforeAll, describe, it } from 'vitest';
import { live, liveThrough, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

const HISTORIES = 4;

beforeAll(enterWorlds);

describe('in simulated worlds logs are archived and followed', () => {
  it(`R28, R33, R60 and R65: every log entry is archived as it was sent, in ${HISTORIES} histories`, async ({
    expect,
  }) => {
    await expect(liveThrough('logs', HISTORIES)).resolves.toBeUndefined();
  });

  it('R28: a tail that resumes after its service was in 2030 returns new entries at once, in the history of seed 2064472262', async ({
    expect,
  }) => {
    await expect(live('logs', 2_064_472_262)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', async ({ expect }) => {
    await expect(soak('logs')).resolves.toBeUndefined();
  });
});
