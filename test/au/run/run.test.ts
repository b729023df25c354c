import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Part, partOf } from '../../../src/au/run/part.ts';
import type { RunRecord } from '../../../src/au/run/record.ts';
import { applyToRun, type JobEvent, runState } from '../../../src/au/run/run.ts';
import { isSvcError } from '../../../src/base/errors.ts';

const NOON_MS = Date.UTC(2026, 0, 5, 12);
const NOON = '2026-01-05T12:00:00.000Z';
const FILE = { file: '/data/results.csv', bytes: 9, sha256: 'r' };

function part(state: Part['state'], number = 1): Part {
  const slice = { number, first_row: 1, rows: 2, start: 50, end: 90, bytes: 90, sha256: 'a' };
  const hasNoJob = state === 'planned' || state === 'creating';
  return partOf({
    ...slice,
    state,
    ...(hasNoJob ? {} : { job: 'job-1' }),
    ...(state === 'downloaded' && { results: { ...FILE, job: 'job-1', proof: 'md5', compared: true } }),
  });
}

function run(parts: readonly Part[], more: Partial<RunRecord> = {}): RunRecord {
  return {
    version: 2,
    id: 'run-20260105-0a1b2c3d-4e5f',
    created_at: NOON,
    profile: 'test',
    base_url: 'https://a.example',
    input: { name: 't.csv', path: '/data/t.csv', rows: 2, bytes: 90, sha256: 'a', header_bytes: 50 },
    parts,
    ...more,
  };
}

/** A record of a run for each combination of state and members that events treat differently. */
const STATES: Readonly<Record<string, () => RunRecord>> = {
  'not sent': () => run([part('planned'), part('creating', 2)]),
  'not sent, abandoned': () => run([part('planned')], { abandoned_at: NOON }),
  open: () => run([part('uploaded'), part('planned', 2)], { tenant_id: 'tenant-1', also_at: ['https://c.example'] }),
  failed: () => run([part('failed'), part('downloaded', 2)], { tenant_id: 'tenant-1' }),
  completed: () => run([part('downloaded')], { tenant_id: 'tenant-1' }),
  'completed, delivered': () => run([part('downloaded')], { tenant_id: 'tenant-1', results: FILE }),
  abandoned: () => run([part('unknown')], { tenant_id: 'tenant-1', abandoned_at: NOON, pruned_at: NOON }),
  'open, delivered before': () => run([part('completed')], { tenant_id: 'tenant-1', results: FILE }),
};

const SUBMITTED = {
  kind: 'submitted',
  out: '/data/out.csv',
  baseUrl: 'https://b.example',
  path: '/other/t.csv',
  cycle: '2026-01',
  onlyRecorded: true,
} as const;

/** One event of each kind, and two that bind a run to different tenants. */
const EVENTS: Readonly<Record<string, JobEvent>> = {
  adopted: {
    kind: 'adopted',
    profile: 'live',
    baseUrl: 'https://b.example',
    name: 'u.csv',
    tenant: 'tenant-2',
    cycle: '2026-01',
  },
  submitted: SUBMITTED,
  'bound to its tenant': { kind: 'bound', tenant: 'tenant-1' },
  'bound to another tenant': { kind: 'bound', tenant: 'tenant-2' },
  compared: { kind: 'compared', jobs: ['job-9'] },
  divided: { kind: 'divided', parts: [part('planned', 3), part('uploaded', 4)] },
  abandoned: { kind: 'abandoned', at: NOON_MS + 1000 },
  resumed: { kind: 'resumed' },
  writing: { kind: 'writing', file: FILE },
  delivered: { kind: 'delivered', file: FILE },
  counted: { kind: 'counted', counts: { updated: 1, warned: 0, errors: 0 } },
  spoiled: { kind: 'spoiled' },
  pruned: { kind: 'pruned', at: NOON_MS },
};

/** Returns the record after an event, or undefined if the event is refused. */
function after(state: () => RunRecord, event: JobEvent): RunRecord | undefined {
  const record = state();
  return isAccepted(record, event) ? record : undefined;
}

function isAccepted(record: RunRecord, event: JobEvent): boolean {
  try {
    applyToRun(record, event);
    return true;
  } catch (error) {
    if (isSvcError(error, 'bug')) return false;
    throw error;
  }
}

describe('a run, in every state, after every event', () => {
  it('R36: a run accepts only the events that its state allows', () => {
    const table = Object.entries(STATES).map(([name, state]) => {
      const accepted = Object.entries(EVENTS).filter(([, event]) => after(state, event) !== undefined);
      return `${name}: ${accepted.map(([event]) => event).join(', ')}`;
    });
    expect(table).toEqual([
      'not sent: adopted, submitted, bound to its tenant, bound to another tenant, compared, divided, abandoned, resumed, pruned',
      'not sent, abandoned: adopted, submitted, bound to its tenant, bound to another tenant, compared, divided, abandoned, resumed, pruned',
      'open: submitted, bound to its tenant, compared, divided, abandoned, spoiled',
      'failed: submitted, bound to its tenant, compared, divided, abandoned, spoiled, pruned',
      'completed: submitted, writing, delivered, counted, pruned',
      'completed, delivered: submitted, writing, delivered, counted, pruned',
      'abandoned: submitted, abandoned, resumed, writing, delivered, counted, spoiled, pruned',
      'open, delivered before: submitted, bound to its tenant, compared, divided, abandoned, spoiled',
    ]);
  });

  it('R36: a run does not change when it refuses an event', () => {
    const changed = Object.entries(STATES).flatMap(([name, state]) => {
      const records = Object.entries(EVENTS).map(([happening, event]) => ({ happening, event, record: state() }));
      const refused = records.filter(({ record, event }) => !isAccepted(record, event));
      return refused
        .filter(({ record }) => !isDeepStrictEqual(record, state()))
        .map(({ happening }) => `${name}: ${happening}`);
    });
    expect(changed).toEqual([]);
  });

  it('R58: a run never changes its id or its file, nor its parts unless they are divided, nor its tenant once something was sent', () => {
    for (const [name, state] of Object.entries(STATES))
      for (const [happening, event] of Object.entries(EVENTS)) {
        const [before, now] = [state(), after(state, event)];
        if (now === undefined) continue;
        const { parts, id, created_at, input } = before;
        const left = event.kind === 'divided' ? event.parts : parts;
        expect([name, happening, now]).toMatchObject([name, happening, { parts: left, id, created_at }]);
        expect(now.input.sha256).toBe(input.sha256);
        const tenants = runState(before) === 'not sent' ? [undefined, 'tenant-1', 'tenant-2'] : ['tenant-1'];
        expect(tenants).toContain(now.tenant_id);
      }
  });

  it('R58: a run that sent nothing takes the profile, base URL and tenant of whoever adopts it, and is open again', () => {
    const { 'not sent, abandoned': state } = STATES;
    const accepted = after(() => ({ ...state!(), also_at: ['https://c.example'] }), EVENTS['adopted']!);
    expect(accepted).toEqual({
      ...run([part('planned')]),
      profile: 'live',
      base_url: 'https://b.example',
      input: { ...run([]).input, name: 'u.csv' },
      tenant_id: 'tenant-2',
      cycle: '2026-01',
    });
  });

  it('R36: a run records the path, the base URLs and the options of each submission of its file', () => {
    const afterFirst = after(STATES['open']!, SUBMITTED)!;
    expect(afterFirst).toMatchObject({
      out: '/data/out.csv',
      cycle: '2026-01',
      no_unrecorded_jobs: true,
      also_at: ['https://c.example', 'https://b.example'],
    });
    expect(afterFirst.input.path).toBe('/other/t.csv');
    const piped = { ...SUBMITTED, path: undefined, cycle: undefined, onlyRecorded: false };
    const afterSecond = after(() => structuredClone(afterFirst), piped)!;
    expect(afterSecond).toMatchObject({ cycle: '2026-01', also_at: afterFirst.also_at });
    expect(afterSecond.input.path).toBe('/other/t.csv');
    expect(afterSecond).not.toHaveProperty('no_unrecorded_jobs');
  });

  it('R59: a run still recognizes its merged results after they are spoiled, until new ones are written', () => {
    const spoiled = after(STATES['open, delivered before']!, { kind: 'spoiled' })!;
    expect([spoiled.results, spoiled.writing]).toEqual([undefined, FILE]);
    const completed = (): RunRecord => ({ ...spoiled, parts: [part('downloaded')] });
    const written = after(completed, { kind: 'delivered', file: { ...FILE, sha256: 's' } })!;
    expect([written.results, 'writing' in written]).toEqual([{ ...FILE, sha256: 's' }, false]);
  });

  it('a run keeps the time at which it was first abandoned, and drops it when it is resumed', () => {
    expect(after(STATES['abandoned']!, EVENTS['abandoned']!)?.abandoned_at).toBe(NOON);
    expect(after(STATES['open']!, EVENTS['abandoned']!)?.abandoned_at).toBe('2026-01-05T12:00:01.000Z');
    const resumed = after(STATES['abandoned']!, EVENTS['resumed']!)!;
    expect(['abandoned_at' in resumed, 'pruned_at' in resumed]).toEqual([false, false]);
  });
});
