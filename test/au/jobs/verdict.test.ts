import { describe, expect, it } from 'vitest';
import { exitCodeOf, type Outcome, verdictOf, worstOf } from '../../../src/au/jobs/verdict.ts';
import { EXIT_CODES, type ErrorCode, SvcError } from '../../../src/base/errors.ts';
import type { NamedRun } from '../../../src/au/run/run-errors.ts';
import { Polled } from '../../../src/au/run/poll-parts.ts';
import { Client } from '../../../src/client/api/client.ts';
import { FakeClock } from '../../support/clock.ts';
import { part, runOf } from './parts.ts';

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
  [3, ['unreadable']],
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

describe('the exit code of what became of several runs', () => {
  it('R72: the exit code of what became of several runs is 0 where there was none', () => {
    expect(exitCodeOf([])).toBe(0);
  });

  it('R72: the exit code of what became of several runs is that of the worst, for every pair of outcomes in either order', () => {
    for (const [at, [code, worse]] of ORDER.entries())
      for (const one of worse)
        for (const other of ORDER.slice(at).flatMap(([, outcomes]) => outcomes)) {
          expect([one, other, exitCodeOf([one, other])]).toEqual([one, other, code]);
          expect([other, one, exitCodeOf([other, 'done', one])]).toEqual([other, one, code]);
        }
  });

  it('R72: the exit code of what became of several runs knows every failure', () => {
    const ordered = ORDER.flatMap(([, outcomes]) => outcomes).filter(isCode);
    expect([...ordered, ...INTERRUPTS].toSorted()).toEqual(Object.keys(EXIT_CODES).toSorted());
    for (const code of INTERRUPTS) expect(exitCodeOf(['job_failed', code])).toBe(EXIT_CODES[code]);
  });

  it('R72: the exit code of what became of several runs chooses among errors alike, the first of those that weigh the same', () => {
    const errors = (['pending', 'network', 'forbidden', 'unauthorized'] as const).map(
      (code) => new SvcError(code, code),
    );
    expect(worstOf([undefined, ...errors])?.code).toBe('forbidden');
    expect(worstOf([undefined])).toBeUndefined();
  });
});

const [PENDING, FAILED, UNKNOWN, UNSENT, COMPLETED] = [
  part('uploaded', 'stored'),
  part('failed', 'stored', { number: 2, errors: ['made up'] }),
  part('unknown', 'stored', { number: 3, missing_since: '2026-01-05T12:00:00.000Z' }),
  part('planned', undefined, { number: 4, earlier_jobs: [{ job: 'job-0', ended: 'gone' }] }),
  part('completed', 'stored', { number: 5 }),
] as const;
const DOWNLOADED = part('downloaded', 'stored', {
  results: { file: 'results-0001.csv', bytes: 1, sha256: 'a', job: 'job-1', proof: 'md5', compared: true },
});
const MISSING = part('uploaded', 'stored', { missing_since: '2026-01-05T12:00:00.000Z' });

/** Returns the verdict on a run whose jobs were polled. */
async function verdict(run: NamedRun, found: object, wanted?: Parameters<typeof verdictOf>[2]) {
  const client = new Client({
    baseUrl: 'http://127.0.0.1:9',
    clock: new FakeClock(),
    signal: new AbortController().signal,
  });
  const polled = await Polled.once({ client, record: run.record, save: () => undefined }, []);
  return verdictOf(run, { ...found, polled }, wanted);
}

function failure(code: ErrorCode): SvcError {
  return new SvcError(code, `made up: ${code}`);
}

describe('what keeps a run from its results', () => {
  it.each([
    ['pending', [COMPLETED, PENDING]],
    ['outcome_unknown', [PENDING, MISSING]],
    ['job_expired', [PENDING, UNSENT]],
    ['outcome_unknown', [PENDING, UNSENT, UNKNOWN]],
    ['job_failed', [PENDING, UNSENT, UNKNOWN, FAILED]],
    [undefined, [COMPLETED]],
  ] as const)('R72: the verdict on a run is %s by the worst of its parts (%#)', async (code, parts) => {
    expect((await verdict(runOf(...parts), {}))?.code).toBe(code);
  });

  it('R72: the verdict on a run is never pending where no poll had a response, and worse where the upload failed for another reason', async () => {
    const run = runOf(PENDING, UNSENT);
    expect(verdictOf(run, { poll: failure('network') })?.code).toBe('network');
    expect(verdictOf(run, { poll: failure('network'), upload: failure('forbidden') })?.code).toBe('forbidden');
  });

  it('R72: the verdict on a run is why parts were not uploaded, and why results were not downloaded, where nothing is worse', async () => {
    expect((await verdict(runOf(UNSENT), { upload: failure('conflict') }))?.code).toBe('conflict');
    expect(await verdict(runOf(COMPLETED), { upload: failure('conflict') })).toBeUndefined();
    expect((await verdict(runOf(COMPLETED, PENDING), { results: failure('checksum_mismatch') }))?.code).toBe(
      'checksum_mismatch',
    );
    expect((await verdict(runOf(COMPLETED, FAILED), { results: failure('checksum_mismatch') }))?.code).toBe(
      'job_failed',
    );
  });

  it('R72 the verdict on a run is why the last polls failed, else that the time is up, where results were not downloaded and nothing is worse', async () => {
    const timeUp = failure('timeout');
    expect((await verdict(runOf(COMPLETED), { outage: failure('server'), timeUp }))?.code).toBe('server');
    expect((await verdict(runOf(COMPLETED), { timeUp }))?.code).toBe('timeout');
    expect((await verdict(runOf(COMPLETED, FAILED), { outage: failure('server') }))?.code).toBe('job_failed');
    expect(await verdict(runOf(DOWNLOADED), { outage: failure('server'), timeUp })).toBeUndefined();
  });

  it('the verdict on a run is only what is under way where the results that there are will do', async () => {
    const all = { isPartial: true };
    expect(await verdict(runOf(COMPLETED, FAILED, UNKNOWN, UNSENT), {}, all)).toBeUndefined();
    expect((await verdict(runOf(COMPLETED, FAILED, PENDING), {}, all))?.code).toBe('pending');
    expect((await verdict(runOf(COMPLETED), { results: failure('truncated') }, all))?.code).toBe('truncated');
  });

  it('the verdict on a run says first that the time was up, and how to continue with what is pending', async () => {
    const again = ['au', 'resume', 'run-1', '--wait'];
    const found = { timeUp: new SvcError('timeout', 'the time limit was reached') };
    const pending = await verdict(runOf(PENDING), found, { again });
    expect(pending).toMatchObject({ code: 'pending', next: again });
    expect(pending?.message).toMatch(/^the time limit was reached; run run-\S+ is not completed: /);
    expect((await verdict(runOf(FAILED), found))?.message).not.toContain('time limit');
  });
});
