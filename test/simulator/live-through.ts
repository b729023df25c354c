import { expect } from 'vitest';
import type { BrokenPromise } from './broken-promise.ts';
import { type History, historyOf, type Subject } from './history.ts';
import { shrink } from './shrink.ts';
import { BrokenHistory, simulate } from './story.ts';

const { SOAK_MINUTES = '10', SEED, HISTORIES } = process.env;

/** Returns how many histories to run: those of the environment variable HISTORIES, or the usual number. */
export function historiesOr(usual: number): number {
  return Number(HISTORIES ?? usual);
}

/** Runs the histories of the seeds from 1 to `count`, or only of the seed in the environment variable SEED. */
export async function liveThrough(subject: Subject, count: number): Promise<void> {
  const [first, last] = SEED === undefined ? [1, count] : [Number(SEED), Number(SEED)];
  for (let seed = first; seed <= last; seed += 1) await live(subject, seed);
}

/** Runs as many new histories as fit into the minutes of a soak, and prints their number. */
export async function soak(subject: Subject): Promise<void> {
  const end = performance.now() + Number(SOAK_MINUTES) * 60_000;
  const first = Math.floor(Math.random() * 2 ** 31);
  let seed = first;
  for (; performance.now() < end; seed += 1) await live(subject, seed);
  console.log(`${subject}: ${seed - first} histories, of seeds from ${first} on`);
}

/** Runs a history twice, and expects the same commands, outcomes and numbers of steps. */
export async function repeat(subject: Subject, seed: number): Promise<void> {
  // Commands load modules when they are first needed, which takes no step later.
  await simulate(historyOf(subject, seed));
  const once = await simulate(historyOf(subject, seed));
  expect(await simulate(historyOf(subject, seed)), `seed ${seed}`).toBe(once);
}

/** Runs a history. If it breaks a promise, fails with its seed and the smallest history that still breaks this promise. */
export async function live(subject: Subject, seed: number): Promise<void> {
  const history = historyOf(subject, seed);
  const problem = await problemOf(history);
  if (problem === undefined) return;
  const { message, story } = (await shrink({ history, problem }, problemOf)).problem;
  expect.fail(`history ${seed} (SEED=${seed} runs it alone) breaks a promise: ${message}\n${story}`);
}

async function problemOf(history: History): Promise<BrokenPromise | undefined> {
  try {
    await simulate(history);
    return undefined;
  } catch (error) {
    if (error instanceof BrokenHistory) return error;
    return { message: error instanceof Error ? error.message : String(error), story: '' };
  }
}
