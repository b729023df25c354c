import { expect } from 'vitest';
import { type History, historyOf, type Subject } from './history.ts';
import { shrink } from './shrink.ts';
import { simulate } from './story.ts';

const { SOAK_MINUTES = '10', SEED } = process.env;

/** Lives through the histories of so many seeds; of one seed alone where the environment names it. */
export async function liveThrough(subject: Subject, count: number): Promise<void> {
  const [first, last] = SEED === undefined ? [1, count] : [Number(SEED), Number(SEED)];
  for (let seed = first; seed <= last; seed += 1) await live(subject, seed);
}

/** Lives through as many new histories as fit into the minutes of a soak, and says how many. */
export async function soak(subject: Subject): Promise<void> {
  const end = performance.now() + Number(SOAK_MINUTES) * 60_000;
  const first = Math.floor(Math.random() * 2 ** 31);
  let seed = first;
  for (; performance.now() < end; seed += 1) await live(subject, seed);
  console.log(`${subject}: ${seed - first} histories, of seeds from ${first} on`);
}

/** Lives twice through a history: what is typed, what comes of it and after how many steps is the same. */
export async function repeat(subject: Subject, seed: number): Promise<void> {
  const once = await simulate(historyOf(subject, seed));
  expect(await simulate(historyOf(subject, seed)), `seed ${seed}`).toBe(once);
}

/** A history that breaks a promise is made as small as it can be, and shown with its seed. */
async function live(subject: Subject, seed: number): Promise<void> {
  const history = historyOf(subject, seed);
  const problem = await problemOf(history);
  if (problem === undefined) return;
  const smallest = await shrink(history, async (smaller) => (await problemOf(smaller)) !== undefined);
  const shown = (await problemOf(smallest)) ?? problem;
  expect.fail(`history ${seed} (SEED=${seed} runs it alone) breaks a promise: ${shown}`);
}

async function problemOf(history: History): Promise<string | undefined> {
  try {
    await simulate(history);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
