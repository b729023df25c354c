import { expect, it } from 'vitest';
import type { JobEvent } from '../../../src/au/job/job.ts';
import { type SentJobs, showJobs } from '../../../src/au/job/show-progress.ts';
import type { Context } from '../../../src/cli/app/command.ts';
import { FakeClock } from '../../support/clock.ts';

/** Returns the lines shown for events, each after the kind of its notice or the label of its progress bar. */
function shown(sent: SentJobs | undefined, events: readonly JobEvent[]): string[] {
  const lines: string[] = [];
  const collect = (kind: string) => (text: string) => void lines.push(`${kind}: ${text}`);
  const context = {
    settings: { sandbox: false },
    system: { env: {}, home: undefined, platform: 'linux' },
    clock: new FakeClock({ start: 0, auto: false }),
    notices: { note: collect('note'), warn: collect('warn') },
    onClose: () => undefined,
    progress: {
      bytes: (label: string, total?: number) => ({
        update: (done: number) => collect(label)(`${done} of ${total}`),
        done: () => collect(label)('done'),
        fail: () => collect(label)('stopped'),
      }),
      waiting: (label: string) => ({
        update: ({ state, nextPollAt }: { state: string; nextPollAt: number }) =>
          collect(label)(`${state}, next at ${nextPollAt}`),
        done: (outcome: string) => collect(label)(outcome),
        fail: () => collect(label)('stopped'),
      }),
    },
  };
  const show = showJobs(context as unknown as Context, sent);
  for (const event of events) show(event);
  return lines;
}

it('a warning of unknown jobs names the first ten, and counts the others', () => {
  const jobs = Array.from({ length: 1200 }, (_, index) => `job-${index}`);
  const [warning] = shown(undefined, [{ kind: 'unrecorded', jobs }]);
  expect(warning).toContain('1,200 jobs of this key that the ledger does not know: job-0, job-1,');
  expect(warning).toContain('job-9 and 1,190 more. If another system');
});

const SENT: SentJobs = {
  count: 2,
  places: new Map([
    ['a', 1],
    ['b', 2],
  ]),
};

it('the progress of a file labels concurrent uploads with the numbers of their jobs', () => {
  expect(
    shown(SENT, [
      { kind: 'uploading', job: 'a', done: 1, total: 10 },
      { kind: 'uploading', job: 'b', done: 2, total: 20 },
      { kind: 'uploading', job: 'a', done: 10, total: 10 },
      { kind: 'uploaded', job: 'a' },
      { kind: 'unclear', job: 'b', reason: 'no answer' },
    ]),
  ).toEqual([
    'upload, 1 of 2: 1 of 10',
    'upload, 2 of 2: 2 of 20',
    'upload, 1 of 2: 10 of 10',
    'upload, 1 of 2: done',
    'upload, 2 of 2: stopped',
    'warn: no answer; polling job b, nothing is sent again',
  ]);
});

it('the progress of a file shows one line for all of its jobs until they are completed', () => {
  const polled = { kind: 'polled', job: 'tokens.csv in 2 jobs', waitedMs: 0, nextMs: 5_000, at: 0 } as const;
  expect(
    shown(SENT, [
      { ...polled, status: '0 of 2 jobs done, 2 processing' },
      { kind: 'completed', job: 'a' },
      { kind: 'unreachable', job: 'tokens.csv in 2 jobs', reason: 'down', nextMs: 6_000 },
      { kind: 'completed', job: 'tokens.csv in 2 jobs' },
    ]),
  ).toEqual([
    'tokens.csv in 2 jobs: 0 of 2 jobs done, 2 processing, next at 5000',
    'tokens.csv in 2 jobs: no response (down), next at 6000',
    'tokens.csv in 2 jobs: completed',
  ]);
});

it('the progress of a file names a job once that is not found at several polls', () => {
  const missing = [1, 2, 3].map(() => ({ kind: 'missing', job: 'b' }) as const);
  expect(shown(undefined, [...missing, { kind: 'missing', job: 'c' }])).toEqual(
    ['b', 'c'].map((job) => expect.stringContaining(`warn: job ${job} was not found (404)`)),
  );
});

it('the progress of a file names no number of its only job', () => {
  expect(shown(undefined, [{ kind: 'uploading', job: 'd', done: 1, total: 10 }])).toEqual(['upload: 1 of 10']);
});
