import { describe, expect, it } from 'vitest';
import {
  failedRunError,
  forgottenRunError,
  missingRunError,
  unfinishedError,
  unknownOutcomeError,
} from '../../../src/au/run/run-errors.ts';
import { part, runOf } from './parts.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;

const iso = (at: number): string => new Date(at).toISOString();

function settledBy(time: string): string {
  return `all of it was sent, and no response said that it was stored; svc au resume settles it, after 2026-01-05 ${time}Z by the service's clock at the latest`;
}

describe('an outcome that is unknown', () => {
  it('R58: an outcome that is unknown is an error that names each part, why, and every way out', () => {
    const parts = [
      part('unknown', 'all', { expires_at: 'some day' }),
      // A later poll ends this doubt, so that nothing frees its rows.
      part('unknown', 'all', { number: 2, job: 'job-2', expires_at: iso(NOON + HOUR), missing_since: iso(NOON) }),
      part('uploaded', 'stored', { number: 3 }),
      part('unknown', 'stored', { number: 4, job: 'job-4', missing_since: iso(NOON) }),
    ];
    const problems = [
      'part 1 (job job-1): all of it was sent, and the job is still pending',
      `part 2 (job job-2): ${settledBy('13:15:01')}`,
      'part 4 (job job-4): it was stored, and the job has not been found since 2026-01-05T12:00:00.000Z',
    ];
    expect(unknownOutcomeError(runOf(...parts))).toMatchObject({
      code: 'outcome_unknown',
      message: `outcome unknown: the service may have the file of ${problems.join('; of ')}`,
      next: ['au', 'status', 'run-1'],
      alternatives: [
        ['au', 'jobs'],
        ['au', 'abandon', 'job-1'],
        ['au', 'abandon', 'job-4'],
      ],
      facts: { run: 'run-20260105-0a1b2c3d-4e5f', jobs: ['job-1', 'job-2', 'job-4'], problems },
      retryable: false,
    });
  });

  it('R58: an outcome that is unknown says when resuming settles it where the job has to be deleted by then, and proposes nothing that is billed again', () => {
    const parts = [
      part('unknown', 'all', { expires_at: iso(NOON + HOUR) }),
      // The job was found missing late, so a replica may lag behind.
      part('unknown', 'all', {
        number: 2,
        job: 'job-2',
        expires_at: iso(NOON + HOUR),
        missing_since: iso(NOON + 2 * HOUR),
      }),
    ];
    const problems = [`part 1 (job job-1): ${settledBy('13:15:01')}`, `part 2 (job job-2): ${settledBy('14:05:00')}`];
    expect(unknownOutcomeError(runOf(...parts))).toMatchObject({
      message: `outcome unknown: the service may have the file of ${problems.join('; of ')}`,
      next: ['au', 'resume'],
      alternatives: [['au', 'status', 'run-1']],
      facts: {
        run: 'run-20260105-0a1b2c3d-4e5f',
        jobs: ['job-1', 'job-2'],
        problems,
        settled_after: '2026-01-05T14:05:00.000Z',
      },
      retryable: true,
    });
  });
});

describe('the job of another run that is in doubt', () => {
  const joined = { rows: 1, by: 'root@vm', provable_at: iso(NOON + HOUR), provable_until: iso(NOON + 7 * 24 * HOUR) };

  it.each([
    ['was never polled', {}, 'the service does not find the job'],
    ['is pending', { seen: 'pending' }, 'the job is still pending'],
    ['was pending before', { seen: 'pending', missing_since: iso(NOON) }, 'the service does not find the job'],
  ] as const)('the job of another run that is in doubt, and %s, is said to be as it was found', (_, seen, said) => {
    const { message } = unknownOutcomeError(runOf(part('unknown', 'all', { joined, ...seen })));
    expect(message).toContain(`root@vm was to send it, and ${said}; svc au resume settles it`);
  });

  it('R58: the job of another run that is in doubt for ever can be abandoned, and the hint says so of one job', () => {
    const parts = [part('unknown', 'all', { joined, unprovable: true })];
    const { hint, alternatives } = unknownOutcomeError(runOf(...parts));
    expect(alternatives.at(-1)).toEqual(['au', 'abandon', 'job-1']);
    expect(hint).toContain('Only if the file was not processed, free its rows with the last of these commands');
  });
});

describe('a job that several parts of a run wait for', () => {
  const joined = { rows: 2, by: 'root@vm' };
  const twice = (...how: Parameters<typeof part>): ReturnType<typeof runOf> =>
    runOf(...[5, 7].map((number) => part(how[0], how[1], { number, joined, ...how[2] })));

  it('R58: an outcome that is unknown names the job once, with one command that frees its rows', () => {
    const { message, hint, alternatives, facts } = unknownOutcomeError(twice('unknown', 'all'));
    expect(message).toContain('the file of parts 5 and 7 (job job-1): root@vm was to send it');
    expect(message.split('job-1')).toHaveLength(2);
    expect(facts).toMatchObject({ jobs: ['job-1'] });
    expect(alternatives).toEqual([
      ['au', 'jobs'],
      ['au', 'abandon', 'job-1'],
    ]);
    expect(hint).toContain('free its rows with the last of these commands');
  });

  it.each([
    ['not found', missingRunError(twice('uploaded', 'stored', { missing_since: iso(NOON) }))],
    [
      'forgotten',
      forgottenRunError(
        twice('uploaded', 'stored', { joined: { ...joined, delivered: true }, missing_since: iso(NOON) }),
      ),
    ],
  ])('the error of a job that is %s names it once', (_, { message, facts }) => {
    expect(message.split('job-1')).toHaveLength(2);
    expect(facts).toMatchObject({ jobs: ['job-1'] });
  });

  it('the error of a job that failed says its reason once', () => {
    const { message, facts } = failedRunError(twice('failed', 'stored', { errors: ['bad merchant'] }));
    expect(message).toContain('1 of 1 job of run');
    expect(facts).toMatchObject({ problems: ['parts 5 and 7 (job job-1): bad merchant'] });
  });
});

describe('a run that is not finished', () => {
  it.each([
    ['sent nothing', runOf(part('planned')), 'nothing of run', ['au', 'resume', 'run-1']],
    [
      'sent a part',
      runOf(part('uploaded', 'stored'), part('planned', undefined, { number: 2 })),
      'has yet to upload the file of part 2',
      ['au', 'resume', 'run-1'],
    ],
    [
      'was abandoned before it sent anything',
      abandoned(part('planned')),
      'has yet to upload its file',
      ['au', 'download', 'run-1'],
    ],
    [
      'was abandoned later',
      abandoned(part('uploaded', 'stored'), part('planned', undefined, { number: 2 })),
      'has yet to upload the file of part 2',
      ['au', 'download', 'run-1'],
    ],
  ])(
    'a run that is not finished, and %s, is an error that names what is left and the next command',
    (_, run, said, next) => {
      const error = unfinishedError(run);
      expect(error.message).toContain(said);
      expect(error).toMatchObject({ code: 'job_expired', next });
    },
  );
});

function abandoned(...parts: Parameters<typeof runOf>): ReturnType<typeof runOf> {
  const run = runOf(...parts);
  return { ...run, record: { ...run.record, abandoned_at: iso(NOON) } };
}
