import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyOf } from './history.ts';
import { simulate } from './simulate.ts';
import { enterWorlds } from './worlds.ts';

const HISTORIES = 100;

let leave: () => void;

beforeAll(async () => {
  leave = await enterWorlds();
});

afterAll(() => leave());

describe('the tool in simulated worlds', () => {
  it(`R36, R58: keeps its promises in ${HISTORIES} histories`, async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1)
      await expect(simulate(historyOf(seed)), `seed ${seed}`).resolves.toBeUndefined();
  }, 600_000);
});
