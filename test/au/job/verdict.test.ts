import { expect, it } from 'vitest';
import { exitCodeOf, type Outcome, worstOf } from '../../../src/au/job/verdict.ts';
import { EXIT_CODES, type ErrorCode, SvcError } from '../../../src/base/errors.ts';

/** Every outcome but an interrupt, in groups of equal weight, the worst first, each with its exit code. */
const ORDER: readonly (readonly [number, readonly Outcome[]])[] = [
  [10, ['job_failed']],
  [9, ['outcome_unknown']],
  [12, ['checksum_mismatch', 'truncated']],
  [4, ['unauthorized', 'forbidden']],
  [3, ['config', 'key_missing', 'key_refused']],
  [2, ['usage', 'input_needed', 'declined']],
  [6, ['rejected', 'conflict']],
  [13, ['refused_input']],
  [5, ['not_found', 'job_expired']],
  [1, ['local', 'output', 'expression', 'bug']],
  [8, ['network', 'server', 'bad_response', 'timeout']],
  [7, ['rate_limited']],
  [14, ['entries_missing']],
  [10, ['threshold']],
  [11, ['pending', 'held']],
  [0, ['done']],
];

const INTERRUPTS: readonly ErrorCode[] = ['hangup', 'interrupted', 'terminated'];

function isCode(outcome: Outcome): outcome is ErrorCode {
  return Object.hasOwn(EXIT_CODES, outcome);
}

it('R72: the exit code of what became of several cycles is 0 where there was none', () => {
  expect(exitCodeOf([])).toBe(0);
});

it('R72: the exit code of what became of several cycles is that of the worst, for every pair of outcomes in either order', () => {
  for (const [at, [code, worse]] of ORDER.entries())
    for (const one of worse)
      for (const other of ORDER.slice(at).flatMap(([, outcomes]) => outcomes)) {
        expect([one, other, exitCodeOf([one, other])]).toEqual([one, other, code]);
        expect([other, one, exitCodeOf([other, 'done', one])]).toEqual([other, one, code]);
      }
});

it('R72: the exit code of what became of several cycles knows every failure', () => {
  const ordered = ORDER.flatMap(([, outcomes]) => outcomes).filter(isCode);
  expect([...ordered, ...INTERRUPTS].toSorted()).toEqual(Object.keys(EXIT_CODES).toSorted());
  for (const code of INTERRUPTS) expect(exitCodeOf(['job_failed', code])).toBe(EXIT_CODES[code]);
});

it('R72: the exit code of what became of several cycles chooses among errors alike, the first of those that weigh the same', () => {
  const errors = (['pending', 'network', 'forbidden', 'unauthorized'] as const).map((code) => new SvcError(code, code));
  expect(worstOf([undefined, ...errors])?.code).toBe('forbidden');
  expect(worstOf([undefined])).toBeUndefined();
});
