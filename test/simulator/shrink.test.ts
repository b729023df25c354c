import { describe, expect, it } from 'vitest';
import { promiseOf } from './broken-promise.ts';
import type { History, Step } from './history.ts';
import { shrink } from './shrink.ts';

const PAID_TWICE = 'row 3 was paid for 2 times: job-17 job-18';
const NO_END = 'the machines never came to their end';

const submit: Step = { do: 'run', type: 'au submit tokens.csv', faults: ['503', 'reset'] };
const lose: Step = { do: 'lose' };
const pass: Step = { do: 'pass', minutes: 5 };

describe('shrinking a history that breaks a promise', () => {
  it('keeps the steps without which the history breaks another promise', async () => {
    // Without the second submission a row is paid for once, and without a loss the machines come to no end.
    const messageOf = ({ steps }: History): string | undefined => {
      if (steps.filter((step) => step.do === 'run').length === 2)
        return PAID_TWICE.replaceAll('1', String(steps.length));
      return steps.length < 3 ? NO_END : undefined;
    };
    const history = { seed: 1, steps: [pass, submit, lose, submit, pass] };
    const problem = { message: PAID_TWICE, story: 'all' };
    const shrunk = await shrink({ history, problem }, async (smaller) => {
      const message = messageOf(smaller);
      return message === undefined ? undefined : { message, story: `${smaller.steps.length} steps` };
    });
    const calm = { ...submit, faults: [] };
    expect(shrunk.history).toEqual({ seed: 1, steps: [calm, calm] });
    expect(shrunk.problem).toEqual({ message: 'row 3 was paid for 2 times: job-27 job-28', story: '2 steps' });
  });

  it('returns the history itself when every smaller one keeps the promise', async () => {
    const failure = { history: { seed: 1, steps: [pass, lose] }, problem: { message: NO_END, story: '' } };
    await expect(shrink(failure, async () => undefined)).resolves.toBe(failure);
  });
});

describe('the words that name a broken promise', () => {
  it.each([
    [PAID_TWICE, 'row 7-shop was paid for 3 times: job-4 job-5 job-6'],
    ['jobs 1c-2, 4f-9 were created for nothing', 'jobs 77-a were created for nothing'],
    [
      "'svc au submit tokens.csv --wait' ended with exit code 9, but nothing ever went wrong: error: a\nhint: b",
      "'svc au submit other.csv' ended with exit code 9, but nothing ever went wrong: error: c: d",
    ],
    [
      "'svc au resume' ended with exit code 1: TypeError: x",
      "'svc au resume' ended with exit code 1: RangeError: run-20261201",
    ],
  ])('are equal for two failures of one check: %s', (one, other) => {
    expect(promiseOf({ message: one })).toBe(promiseOf({ message: other }));
  });

  it.each([
    [PAID_TWICE, 'row 3 was never sent, and the file counts as submitted'],
    [PAID_TWICE, NO_END],
    [
      "'svc au resume' ended with exit code 9, but no job failed: x",
      "'svc au resume' ended with exit code 9, but nobody asked: x",
    ],
    ["'svc au resume' ended with exit code 1: TypeError: x", "'svc au resume' ended with exit code 2: usage: x"],
    [
      "'svc au resume' ended with exit code 9, but no job failed: x",
      "'svc au status' ended with exit code 9, but no job failed: x",
    ],
  ])('differ for two promises: %s', (one, other) => {
    expect(promiseOf({ message: one })).not.toBe(promiseOf({ message: other }));
  });
});
