import type { History, Step } from './history.ts';

/** The most attempts to shrink a history. Each attempt runs a smaller one. */
const MOST_ATTEMPTS = 150;

/** Removes steps, faults and other circumstances from a history as long as it still breaks a promise. */
export async function shrink(history: History, breaks: (history: History) => Promise<boolean>): Promise<History> {
  let smallest = history;
  let attempts = 0;
  for (let hasShrunk = true; hasShrunk;) {
    hasShrunk = false;
    for (const smaller of smallerThan(smallest)) {
      attempts += 1;
      if (attempts > MOST_ATTEMPTS) return smallest;
      if (!(await breaks(smaller))) continue;
      smallest = smaller;
      hasShrunk = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(history: History): Generator<History> {
  const { steps } = history;
  for (const at of steps.keys()) yield { ...history, steps: steps.toSpliced(at, 1) };
  for (const [at, step] of steps.entries())
    for (const simpler of simplerThan(step)) yield { ...history, steps: steps.with(at, simpler) };
}

function* simplerThan(step: Step): Generator<Step> {
  if (step.do !== 'run' && step.do !== 'resume') return;
  for (const name of ['ending', 'skewMs', 'keys', 'inBackground'] as const)
    if (Reflect.get(step, name) !== undefined) yield { ...step, [name]: undefined };
  for (const at of step.faults?.keys() ?? []) yield { ...step, faults: step.faults?.toSpliced(at, 1) ?? [] };
}
