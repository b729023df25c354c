import { beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/au/run/job.ts';
import type { Part, PartState, RecordedPart, Sent } from '../../../src/au/run/part.ts';
import { pollJobs, recordPoll, type RunWork } from '../../../src/au/run/poll-parts.ts';
import { type ErrorCode, SvcError } from '../../../src/base/errors.ts';
import { Client } from '../../../src/client/api/client.ts';
import { CursorRefused, Pages } from '../../../src/client/api/pages.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { part, recordOf } from './parts.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const iso = (at: number): string => new Date(at).toISOString();

let clock: FakeClock;
/** The service's time. */
let serviceNow: number;
/** The jobs that single reads show, and the pages of the list. */
let jobs: Map<string, AccountUpdaterJob>;
let pages: AccountUpdaterJob[][];
let listFailure: ErrorCode | undefined;
/** Whether the service refuses the cursors that it gives. */
let refusesCursors: boolean;
let requests: string[];
let events: JobEvent[];
let saves: number;

beforeEach(() => {
  clock = new FakeClock({ start: NOON });
  serviceNow = NOON;
  [jobs, pages, requests, events] = [new Map(), [], [], []];
  [listFailure, refusesCursors, saves] = [undefined, false, 0];
});

function scriptedClient(): Client {
  const { signal } = new AbortController();
  const client = new Client({ baseUrl: 'http://127.0.0.1:9', clock, signal, pacing: false });
  const accountUpdater = {
    read: async (id: string): Promise<AccountUpdaterJob> => {
      requests.push(`read ${id}`);
      const job = jobs.get(id);
      if (job === undefined) throw new SvcError('not_found', 'no such job', { status: 404 });
      return job;
    },
    list: () =>
      new Pages(async (cursor) => {
        const at = Number(cursor ?? 0);
        requests.push(`list ${at}`);
        if (listFailure !== undefined) throw new SvcError(listFailure, 'refused');
        if (refusesCursors && cursor !== undefined)
          throw new CursorRefused(new SvcError('rejected', 'refused', { status: 400 }));
        return { items: pages[at] ?? [], next: at + 1 < pages.length ? String(at + 1) : undefined };
      }),
  };
  return Object.defineProperties(client, {
    accountUpdater: { value: accountUpdater },
    any: { value: { send: refuse } },
    now: { value: () => serviceNow },
  });
}

function job(id: string, status = 'pending', more: Partial<AccountUpdaterJob> = {}): AccountUpdaterJob {
  return { id, status, tenant_id: 'ours', created_at: iso(NOON - MINUTE), ...more };
}

function workOf(...parts: Part[]): RunWork {
  return { client: scriptedClient(), record: recordOf(...parts), save, onEvent: (event) => void events.push(event) };
}

function refuse(): Promise<never> {
  return Promise.reject(new SvcError('forbidden', 'refused'));
}

function save(): void {
  saves += 1;
}

function numbered(state: PartState, number: number): Part {
  const sent = state === 'created' ? 'some' : 'stored';
  const results = {
    file: 'results-0001.csv',
    bytes: 1,
    sha256: 'a',
    job: `job-${number}`,
    proof: 'md5',
    compared: true,
  } as const;
  const job = state === 'planned' ? {} : { job: `job-${number}` };
  return part(state, sent, { number, ...job, ...(state === 'downloaded' && { results }) });
}

describe('a job that is found', () => {
  it.each<[PartState, Sent, string, PartState, Sent]>([
    ['created', 'some', 'pending', 'created', 'some'],
    ['uploading', 'all', 'pending', 'unknown', 'all'],
    ['unknown', 'all', 'pending', 'unknown', 'all'],
    ['uploaded', 'stored', 'pending', 'uploaded', 'stored'],
    ['unknown', 'stored', 'pending', 'uploaded', 'stored'],
    ['unknown', 'all', 'processing', 'uploaded', 'stored'],
    ['uploaded', 'stored', 'pondering', 'uploaded', 'stored'],
    ['unknown', 'all', 'completed', 'completed', 'stored'],
    ['uploaded', 'stored', 'failed', 'failed', 'stored'],
  ])(
    'R36 and R43: a job that is found moves a part from %s (%s), when it is %s, to %s (%s)',
    async (state, sent, status, next, known) => {
      const one = part(state, sent, { missing_since: iso(NOON) });
      await recordPoll(workOf(one), one, job('job-1', status));
      expect(one).toMatchObject({ state: next, sent: known, seen: status, job: 'job-1' });
      expect(one).not.toHaveProperty('missing_since');
      expect(saves).toBe(1);
    },
  );

  it('R43: a job that is found is completed once, and fails with its reasons', async () => {
    const one = part('uploaded', 'stored');
    const work = workOf(one);
    await recordPoll(work, one, job('job-1', 'completed'));
    serviceNow += HOUR;
    await recordPoll(work, one, job('job-1', 'completed'));
    expect(one.done_at).toBe(iso(NOON));
    expect(events[0]).toEqual({ kind: 'completed', job: 'job-1' });
    events.length = 0;
    await recordPoll(work, one, job('job-1', 'failed', { errors: ['no'] }));
    await recordPoll(work, one, job('job-1', 'failed'));
    expect(events).toEqual([
      { kind: 'failed', job: 'job-1', errors: ['no'] },
      { kind: 'failed', job: 'job-1', errors: [] },
    ]);
  });

  it('R37: a job that is found says until when its upload address is good', async () => {
    const one = part('created', 'some', { expires_at: iso(NOON) });
    await recordPoll(workOf(one), one, job('job-1', 'pending', { expires_at: iso(NOON + HOUR) }));
    expect(one.expires_at).toBe(iso(NOON + HOUR));
    await recordPoll(workOf(one), one, job('job-1', 'pending'));
    expect(one.expires_at).toBe(iso(NOON + HOUR));
  });
});

describe('a job that is missing', () => {
  it('R37: a job that is missing is replaced when its file was never sent whole', async () => {
    const one = part('created', 'some', { expires_at: iso(NOON + HOUR), seen: 'pending' });
    await recordPoll(workOf(one), one, undefined);
    const plan = { number: 1, first_row: 1, rows: 1, start: 50, end: 60, bytes: 60, sha256: 'a' };
    expect(one).toEqual({ ...plan, state: 'planned', earlier_jobs: [{ job: 'job-1', ended: 'gone' }] });
    expect([events, requests]).toEqual([[], ['read job-1', 'list 0']]);
  });

  it('R58: a job that is missing is in doubt when all of it was sent, and reported once, since the later of two clocks', async () => {
    const one = part('uploading', 'all');
    jobs.set('job-1', job('job-1'));
    serviceNow -= HOUR;
    const work = workOf(one);
    await recordPoll(work, one, undefined);
    expect(one).toMatchObject({ state: 'unknown', sent: 'all', missing_since: iso(NOON) });
    await recordPoll(work, one, undefined);
    expect(one.missing_since).toBe(iso(NOON));
    expect(events).toEqual([{ kind: 'missing', job: 'job-1' }]);
  });

  it('R58: a job that is missing is so since now where a wrong clock recorded a later time', async () => {
    const one = part('unknown', 'all', { expires_at: iso(NOON + HOUR), missing_since: iso(NOON + 26 * HOUR) });
    await recordPoll(workOf(one), one, undefined);
    expect(one).toMatchObject({ state: 'unknown', missing_since: iso(NOON) });
  });

  it.each([
    [4 * MINUTE, 4 * MINUTE, 'uploaded'],
    [5 * MINUTE, 4 * MINUTE, 'uploaded'],
    [4 * MINUTE, 5 * MINUTE, 'uploaded'],
    [5 * MINUTE, 5 * MINUTE, 'unknown'],
    [100 * HOUR, 100 * HOUR, 'unknown'],
  ])(
    'R58: a job that is missing was stored is in doubt after minutes of both clocks: %i and %i',
    async (here, there, state) => {
      const one = part('uploaded', 'stored', { missing_since: iso(NOON) });
      await clock.advance(here);
      serviceNow += there;
      // A list without the job proves nothing about a file that was stored.
      pages = [[job('job-2', 'completed', { created_at: iso(NOON - 3 * HOUR) })]];
      await recordPoll(workOf(one), one, undefined);
      expect(one).toMatchObject({ state, sent: 'stored', job: 'job-1' });
    },
  );

  describe('for good', () => {
    /** Polls a part whose file was sent completely 80 minutes ago, and whose job is missing. */
    async function lost(more: Partial<RecordedPart> = {}, hasExpiry = true): Promise<RunWork> {
      const expiry = hasExpiry ? { expires_at: iso(NOON + HOUR) } : {};
      const one = part('unknown', 'all', { ...expiry, missing_since: iso(NOON), ...more });
      await clock.advance(80 * MINUTE);
      serviceNow += 80 * MINUTE;
      pages = [[job('job-2')], [job('job-3', 'completed', { created_at: iso(NOON - 3 * HOUR) })]];
      const work = workOf(one);
      await recordPoll(work, one, undefined);
      return work;
    }

    it.each([true, false])(
      'R58: a permanently missing job gives its part to another job, whether its expiry is known: %j',
      async (isKnown) => {
        const { record } = await lost({}, isKnown);
        expect(record.parts).toMatchObject([
          { state: 'planned', earlier_jobs: [{ job: 'job-1', ended: 'gone', sent_at: iso(NOON) }] },
        ]);
        expect(record.parts[0]).not.toHaveProperty('job');
        expect(events).toEqual([{ kind: 'gone', job: 'job-1' }]);
        expect(saves).toBe(1);
      },
    );

    it.each<[string, Partial<RecordedPart>]>([
      ['its address has not expired', { expires_at: iso(NOON + 2 * HOUR) }],
      ['bytes sent to its address may arrive', { expires_at: iso(NOON + 65 * MINUTE) }],
      ['it is not missing for long', { missing_since: iso(NOON + 76 * MINUTE) }],
      ['its times cannot be read', { sent_at: 'then', expires_at: 'then' }],
      ['nobody knows since when it is missing', { missing_since: 'then' }],
    ])('R58: a permanently missing job is in doubt while %s', async (_, more) => {
      const { record } = await lost(more);
      expect(record.parts).toMatchObject([{ state: 'unknown', sent: 'all', job: 'job-1' }]);
    });

    it.each(['network', 'server', 'bad_response', 'rate_limited', 'forbidden', 'not_found'] as const)(
      'R58: a permanently missing job is in doubt while the list cannot be read: %s',
      async (code) => {
        listFailure = code;
        jobs.set('job-1', job('job-1'));
        const { record } = await lost();
        expect(record.parts).toMatchObject([{ state: 'unknown', job: 'job-1' }]);
      },
    );

    it('R58: a permanently missing job is in doubt while the list breaks off, since its cursor is refused', async () => {
      refusesCursors = true;
      pages = [[job('job-2')], [job('job-3')]];
      const { record } = await lost();
      expect(record.parts).toMatchObject([{ state: 'unknown', job: 'job-1' }]);
    });

    it('a permanently missing job is no matter of a key that is refused', async () => {
      listFailure = 'unauthorized';
      jobs.set('job-1', job('job-1'));
      await expect(lost()).rejects.toMatchObject({ code: 'unauthorized' });
    });

    it('R58: a permanently missing job is in doubt while the list shows it, on whatever page', async () => {
      await clock.advance(2 * HOUR);
      serviceNow += 2 * HOUR;
      // An item without an id may be the job.
      for (const listed of [job('job-1'), job(''), { ...job('job-4'), id: undefined }]) {
        pages = [[job('job-2')], [job('job-3')], [listed as AccountUpdaterJob]];
        const one = part('unknown', 'all', { expires_at: iso(NOON + HOUR), missing_since: iso(NOON) });
        await recordPoll(workOf(one), one, undefined);
        expect(one).toMatchObject({ state: 'unknown', job: 'job-1' });
      }
    });

    it('R58: a permanently missing job is searched for in the list back to two hours before its upload, and no further', async () => {
      const one = part('unknown', 'all', { expires_at: iso(NOON + HOUR), missing_since: iso(NOON) });
      await clock.advance(2 * HOUR);
      serviceNow += 2 * HOUR;
      pages = [NOON, NOON - 2 * HOUR, NOON - 2 * HOUR - 1, NOON - 3 * HOUR].map((at, page) => [
        job(`other-${page}`, 'completed', { created_at: iso(NOON) }),
        job(`another-${page}`, 'completed', { created_at: iso(at) }),
      ]);
      await recordPoll(workOf(one), one, undefined);
      expect(one.state).toBe('planned');
      expect(requests.slice(-3)).toEqual(['list 0', 'list 1', 'list 2']);
    });

    it.each([
      [2 * HOUR, HOUR],
      [HOUR, 2 * HOUR],
      [HOUR - 1, HOUR - 1],
    ])(
      'R58: a permanently missing job is in doubt until both clocks are past its expiry, known or not: %i and %i',
      async (here, there) => {
        await clock.advance(here);
        serviceNow += there;
        pages = [[job('job-2', 'completed', { created_at: iso(NOON - 3 * HOUR) })]];
        for (const expiry of [{ expires_at: iso(NOON + HOUR) }, {}]) {
          const one = part('unknown', 'all', { ...expiry, missing_since: iso(NOON) });
          await recordPoll(workOf(one), one, undefined);
          expect(one).toMatchObject({ state: 'unknown', job: 'job-1' });
        }
      },
    );

    it('R58: a permanently missing job is in doubt where nothing shows whose key it is, and where others stand beside it', async () => {
      await clock.advance(2 * HOUR);
      serviceNow += 2 * HOUR;
      for (const page of [[], [job('job-2'), job('job-1'), job('job-3', 'completed', { created_at: iso(0) })]]) {
        pages = [page];
        const one = part('unknown', 'all', { expires_at: iso(NOON + HOUR), missing_since: iso(NOON) });
        await recordPoll(workOf(one), one, undefined);
        expect(one).toMatchObject({ state: 'unknown', job: 'job-1' });
      }
    });

    it("R58: a permanently missing job says nothing to another tenant's key", async () => {
      const one = part('unknown', 'all', { expires_at: iso(NOON + HOUR), missing_since: iso(NOON) });
      await clock.advance(2 * HOUR);
      serviceNow += 2 * HOUR;
      pages = [[job('job-2', 'pending', { tenant_id: 'theirs' })]];
      await expect(recordPoll(workOf(one), one, undefined)).rejects.toThrow('belongs to tenant ours');
      expect(one).toMatchObject({ state: 'unknown', job: 'job-1' });
    });
  });
});

describe('a poll of a run', () => {
  it('R42: a poll of a run asks for what is under way or in doubt, and nothing else', async () => {
    const parts = (['planned', 'created', 'uploaded', 'unknown', 'completed', 'downloaded', 'failed'] as const).map(
      (state, at) => numbered(state, at + 1),
    );
    pages = [[job('job-4', 'completed'), job('job-3', 'processing')], [job('older')]];
    await pollJobs(workOf(...parts));
    expect(requests).toEqual(['list 0']);
    expect(parts.map(({ state }) => state)).toEqual([
      'planned',
      'created',
      'uploaded',
      'completed',
      'completed',
      'downloaded',
      'failed',
    ]);
  });

  it('R42: a poll of a run reads one job alone, and those that the list does not show', async () => {
    jobs.set('job-1', job('job-1', 'completed'));
    const one = numbered('uploaded', 1);
    await pollJobs(workOf(one));
    expect([requests, one.state]).toEqual([['read job-1'], 'completed']);
    requests.length = 0;
    const parts = [1, 2, 3].map((number) => numbered('uploaded', number));
    pages = [[job('job-3', 'completed')], [job('other')], [job('job-2', 'completed')]];
    jobs.set('job-2', job('job-2', 'processing'));
    await pollJobs(workOf(...parts));
    // The jobs of a run are next to one another in the list, so a page without any ends the reading.
    expect(requests).toEqual(['list 0', 'list 1', 'read job-1', 'read job-2']);
    expect(parts.map(({ seen }) => seen)).toEqual(['completed', 'processing', 'completed']);
  });

  it('a poll of a run reads the other jobs one by one where the list breaks off, since its cursor is refused', async () => {
    refusesCursors = true;
    const parts = [1, 2].map((number) => numbered('uploaded', number));
    pages = [[job('job-2', 'completed')], [job('job-1', 'completed')]];
    jobs.set('job-1', job('job-1', 'processing'));
    await pollJobs(workOf(...parts));
    expect(requests).toEqual(['list 0', 'list 1', 'read job-1']);
    expect(parts.map(({ seen }) => seen)).toEqual(['processing', 'completed']);
  });

  it('R42: a poll of a run looks no further than a page without any of its jobs, once it met some', async () => {
    const parts = Array.from({ length: 12 }, (_, at) => numbered('uploaded', at + 1));
    for (const { job: id = '' } of parts) jobs.set(id, job(id, 'processing'));
    pages = [[job('other')], [job('job-1'), job('job-2')], [job('old')], [job('older')]];
    await pollJobs(workOf(...parts));
    expect(requests.filter((request) => request.startsWith('list'))).toEqual(['list 0', 'list 1', 'list 2']);
  });

  it('R42: a poll of a run looks through no more pages of other jobs than single reads would cost', async () => {
    const parts = Array.from({ length: 8 }, (_, at) => numbered('uploaded', at + 1));
    for (const { job: id = '' } of parts) jobs.set(id, job(id, 'processing'));
    pages = Array.from({ length: 9 }, (_, page) => [job(`other-${page}`)]);
    await pollJobs(workOf(...parts));
    expect(requests.filter((request) => request.startsWith('list'))).toEqual(['list 0', 'list 1', 'list 2']);
    expect(parts.every(({ seen }) => seen === 'processing')).toBe(true);
  });
});
