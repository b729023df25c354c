import { afterAll, beforeAll, describe, it } from 'vitest';
import { liveThrough, repeat, soak } from './live-through.ts';
import { enterWorlds } from './worlds.ts';

const HISTORIES = 60;

let leave: () => void;

beforeAll(async () => {
  leave = await enterWorlds();
});

afterAll(() => leave());

describe('in simulated worlds logs are archived and followed', () => {
  it(
    `R28, R33, R60 and R65: every log entry is archived as it was sent, in ${HISTORIES} histories`,
    { timeout: 600_000 },
    async ({ expect }) => {
      await expect(liveThrough('logs', HISTORIES)).resolves.toBeUndefined();
    },
  );

  it('the same way each time', { timeout: 60_000 }, async ({ expect }) => {
    for (let seed = 1; seed <= 5; seed += 1) await expect(repeat('logs', seed)).resolves.toBeUndefined();
  });

  it.runIf(process.env['SOAK'])('for as long as a soak lasts', { timeout: 0 }, async ({ expect }) => {
    await expect(soak('logs')).resolves.toBeUndefined();
  });
});
