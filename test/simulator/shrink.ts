import { type BrokenPromise, promiseOf } from './broken-promise.ts';
import type { History, Step } from './history.ts';

/** The most attempts to shrink a history. Each attempt runs a smaller one. */
const MAX_ATTEMPTS = 150;

/** A history, and the promise that it breaks. */
interface Failure {
  readonly history: History;
  readonly problem: BrokenPromise;
}

/**
 * Removes steps, faults and other circumstances from a history as long as it still breaks the same promise. One that
 * breaks another promise tells another story, and would hide the one to look for.
 */
export async function shrink(
  failure: Failure,
  problemOf: (history: History) => Promise<BrokenPromise | undefined>,
): Promise<Failure> {
  const promise = promiseOf(failure.problem);
  let smallest = failure;
  let attempts = 0;
  for (let hasShrunk = true; hasShrunk;) {
    hasShrunk = false;
    for (const history of smallerThan(smallest.history)) {
      attempts += 1;
      if (attempts > MAX_ATTEMPTS) return smallest;
      const problem = await problemOf(history);
      if (problem === undefined || promiseOf(problem) !== promise) continue;
      smallest = { history, problem };
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
  for (const name of ['ending', 'skewMs', 'keys', 'inBackground', 'isUnmounted'] as const)
    if (Reflect.get(step, name) !== undefined) yield { ...step, [name]: undefined };
  for (const at of step.faults?.keys() ?? []) yield { ...step, faults: step.faults?.toSpliced(at, 1) ?? [] };
}
