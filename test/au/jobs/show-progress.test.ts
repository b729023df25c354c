import { expect, it } from 'vitest';
import type { JobEvent } from '../../../src/au/jobs/job.ts';
import type { RunRecord } from '../../../src/au/run/record.ts';
import { showJobs } from '../../../src/au/jobs/show-progress.ts';
import type { Context } from '../../../src/cli/app/command.ts';
import { FakeClock } from '../../support/clock.ts';

/** Returns the lines shown for events, each after the kind of its notice or the label of its progress bar. */
function shown(record: RunRecord | undefined, events: readonly JobEvent[]): string[] {
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
  const show = showJobs(context as unknown as Context, record);
  for (const event of events) show(event);
  return lines;
}

const RECORD = {
  parts: [
    { number: 1, job: 'a' },
    { number: 2, job: 'b' },
  ],
} as unknown as RunRecord;

it('the progress of a run labels concurrent uploads with the numbers of their parts', () => {
  expect(
    shown(RECORD, [
      { kind: 'uploading', job: 'a', done: 1, total: 10 },
      { kind: 'uploading', job: 'b', done: 2, total: 20 },
      { kind: 'uploading', job: 'a', done: 10, total: 10 },
      { kind: 'uploaded', job: 'a' },
      { kind: 'unclear', job: 'b', reason: 'no answer' },
    ]),
  ).toEqual([
    'upload, part 1 of 2: 1 of 10',
    'upload, part 2 of 2: 2 of 20',
    'upload, part 1 of 2: 10 of 10',
    'upload, part 1 of 2: done',
    'upload, part 2 of 2: stopped',
    'warn: no answer; polling job b, nothing is sent again',
  ]);
});

it('the progress of a run names all parts of a job, and no count where their numbers are above it', () => {
  const parts = [
    { number: 2, job: 'a' },
    { number: 5, job: 'b' },
    { number: 7, job: 'b' },
  ];
  expect(
    shown({ parts } as unknown as RunRecord, [
      { kind: 'downloading', job: 'a', done: 1, total: 1 },
      { kind: 'downloading', job: 'b', done: 2, total: 2 },
    ]),
  ).toEqual(['download, part 2: 1 of 1', 'download, parts 5 and 7: 2 of 2']);
});

it('the progress of a run shows one line for all parts until the run completes', () => {
  const polled = { kind: 'polled', job: 'run-1', waitedMs: 0, nextMs: 5_000, at: 0 } as const;
  expect(
    shown(RECORD, [
      { ...polled, status: '0 of 2 jobs done, 2 processing' },
      { kind: 'completed', job: 'a' },
      { kind: 'unreachable', job: 'run-1', reason: 'down', nextMs: 6_000 },
      { kind: 'failed', job: 'b', errors: ['bad merchant'] },
      { kind: 'completed', job: 'run-1' },
    ]),
  ).toEqual([
    'run-1: 0 of 2 jobs done, 2 processing, next at 5000',
    'run-1: no response (down), next at 6000',
    'warn: job b, part 2 of 2 failed: bad merchant',
    'run-1: completed',
  ]);
});

it('the progress of a run names a job once that is not found at several polls', () => {
  const missing = [1, 2, 3].map(() => ({ kind: 'missing', job: 'b' }) as const);
  expect(shown(undefined, [...missing, { kind: 'missing', job: 'c' }])).toEqual(
    ['b', 'c'].map((job) => expect.stringContaining(`warn: job ${job} was not found (404)`)),
  );
});

it('the progress of a run reports expired, missing and orphaned jobs', () => {
  expect(
    shown(undefined, [
      { kind: 'replaced', gone: 'a', job: 'b' },
      { kind: 'missing', job: 'b' },
      { kind: 'gone', job: 'b' },
      { kind: 'orphan', job: 'c' },
      { kind: 'uploading', job: 'd', done: 1, total: 10 },
    ]),
  ).toEqual([
    'note: job a expired before its file was uploaded; created job b',
    'warn: job b was not found (404), which proves nothing: polling continues, and nothing is uploaded again',
    'warn: job b expired without its file: the file was never processed and needs another job',
    'note: job c is pending and may come from a request that got no response; if it is not used, it is deleted within an hour',
    'upload: 1 of 10',
  ]);
});
