import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  apply,
  isUnsent,
  next,
  nextAct,
  type Part,
  type PartEvent,
  partOf,
  type PartResults,
  type PartState,
  type RecordedPart,
  sentOf,
} from '../../../src/au/run/part.ts';
import { isSvcError } from '../../../src/base/errors.ts';
import { isNode, lastName, type Node, nodesOf } from '../../support/syntax.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const iso = (at: number): string => new Date(at).toISOString();

const SLICE = { number: 1, first_row: 1, rows: 2, start: 50, end: 90, bytes: 90, sha256: 'a' };
const RESULTS: PartResults = {
  file: 'results-0001.csv',
  bytes: 9,
  sha256: 'r',
  job: 'job-1',
  proof: 'md5',
  compared: true,
};
const UNPROVEN = { file: 'results-0001.csv.unproven', bytes: 9, sha256: 'u', job: 'job-1' };
const EARLIER = { job: 'job-0', ended: 'gone', sent_at: iso(NOON - 3 * HOUR) } as const;

const JOINED = { rows: 9, by: 'ci@runner-7', provable_at: iso(NOON + HOUR + 15 * MINUTE) };

const WAITING = { job: 'job-1', expires_at: iso(NOON + HOUR) };
const SENDING = { ...WAITING, sent_at: iso(NOON) };
const STORED = { ...SENDING, sent: 'stored', seen: 'processing' } as const;
const MISSING = { missing_since: iso(NOON) };
const ENDED = { ...STORED, seen: 'completed', done_at: iso(NOON + HOUR) };

/** Every state of a part that events treat differently. */
const STATES: Readonly<Record<string, Part>> = {
  planned: { ...SLICE, state: 'planned' },
  'planned, creation unclear': { ...SLICE, state: 'planned', creating_since: iso(NOON) },
  creating: { ...SLICE, state: 'creating', creating_since: iso(NOON) },
  created: { ...SLICE, state: 'created', ...WAITING },
  'created, creation unclear': { ...SLICE, state: 'created', ...WAITING, creating_since: iso(NOON) },
  'created, sent some': { ...SLICE, state: 'created', ...SENDING, sent: 'some', seen: 'pending' },
  'created, missing': { ...SLICE, state: 'created', ...WAITING, ...MISSING },
  'uploading, sent some': { ...SLICE, state: 'uploading', ...SENDING, sent: 'some' },
  'uploading, sent all': { ...SLICE, state: 'uploading', ...SENDING, sent: 'all' },
  'uploading, sent all, missing': { ...SLICE, state: 'uploading', ...SENDING, sent: 'all', ...MISSING },
  uploaded: { ...SLICE, state: 'uploaded', ...STORED },
  'uploaded, not by this record': { ...SLICE, state: 'uploaded', job: 'job-1', sent: 'stored', seen: 'processing' },
  'uploaded, missing': { ...SLICE, state: 'uploaded', ...STORED, ...MISSING },
  'unknown, sent all': { ...SLICE, state: 'unknown', ...SENDING, sent: 'all' },
  'unknown, sent all, missing': { ...SLICE, state: 'unknown', ...SENDING, sent: 'all', ...MISSING },
  'unknown, stored, missing': { ...SLICE, state: 'unknown', ...STORED, ...MISSING },
  completed: { ...SLICE, state: 'completed', ...ENDED },
  'completed, results kept': { ...SLICE, state: 'completed', ...ENDED, results: RESULTS },
  'completed, results unproven': { ...SLICE, state: 'completed', ...ENDED, unproven: UNPROVEN },
  downloaded: { ...SLICE, state: 'downloaded', ...ENDED, results: RESULTS },
  'uploaded, joined': { ...SLICE, state: 'uploaded', job: 'job-1', sent: 'stored', joined: JOINED },
  'unknown, joined': { ...SLICE, state: 'unknown', job: 'job-1', sent: 'all', joined: JOINED },
  'unknown, joined, missing': {
    ...SLICE,
    state: 'unknown',
    ...WAITING,
    sent: 'all',
    joined: JOINED,
    seen: 'pending',
    ...MISSING,
  },
  'uploaded, joined, read': {
    ...SLICE,
    state: 'uploaded',
    job: 'job-1',
    sent: 'stored',
    joined: { ...JOINED, delivered: true },
  },
  'failed, joined': { ...SLICE, state: 'failed', job: 'job-1', sent: 'stored', joined: JOINED, errors: ['late'] },
  failed: { ...SLICE, state: 'failed', ...STORED, seen: 'failed', errors: ['as the service says'] },
  'failed, results unproven': { ...SLICE, state: 'failed', ...ENDED, errors: ['late'], unproven: UNPROVEN },
};

const SOON = { service: NOON + MINUTE, here: NOON + MINUTE };
const LATE = { service: NOON + 2 * HOUR, here: NOON + 2 * HOUR };
const LATE_HERE = { service: NOON + MINUTE, here: NOON + 2 * HOUR };
const JOB = { id: 'job-2', expires_at: iso(NOON + 2 * HOUR) };

function found(status: string): PartEvent {
  const errors = status === 'failed' ? ['as the service says'] : null;
  return { kind: 'found', job: { status, expires_at: null, errors }, at: NOON + HOUR };
}

/** Every event that states treat differently. */
const EVENTS: Readonly<Record<string, PartEvent>> = {
  creating: { kind: 'creating', at: NOON + MINUTE },
  'not created': { kind: 'not created', wasUnclear: false },
  'not created, an earlier request unclear': { kind: 'not created', wasUnclear: true },
  created: { kind: 'created', job: JOB, wasUnclear: false },
  'created, an earlier request unclear': { kind: 'created', job: JOB, wasUnclear: true },
  forgotten: { kind: 'forgotten' },
  freed: { kind: 'freed' },
  delivered: { kind: 'delivered' },
  reassigned: { kind: 'reassigned' },
  sending: { kind: 'sending', at: NOON + MINUTE, expiresAt: null },
  'sent some': { kind: 'sent', sent: 'some' },
  'sent all': { kind: 'sent', sent: 'all' },
  stored: { kind: 'stored' },
  expired: { kind: 'expired' },
  back: { kind: 'back', job: 'job-0' },
  'back, of another part': { kind: 'back', job: 'job-9' },
  sighted: { kind: 'sighted' },
  missed: { kind: 'missed', clocks: SOON },
  'found pending': found('pending'),
  'found processing': found('processing'),
  'found pondering': found('pondering'),
  'found completed': found('completed'),
  'found failed': found('failed'),
  'not found': { kind: 'not found', clocks: SOON, absent: false },
  'not found, late by one clock, not in the list': { kind: 'not found', clocks: LATE_HERE, absent: true },
  'not found, late': { kind: 'not found', clocks: LATE, absent: false },
  'not found, late, not in the list': { kind: 'not found', clocks: LATE, absent: true },
  'given up': { kind: 'given up' },
  retried: { kind: 'retried' },
  downloaded: { kind: 'downloaded', results: { ...RESULTS, sha256: 'new', proof: 'md5', compared: true } },
  unproven: { kind: 'unproven', file: UNPROVEN },
  failed: { kind: 'failed', reason: 'failed while its results were downloaded' },
  intact: { kind: 'intact' },
  spoiled: { kind: 'spoiled' },
  'wanted again': { kind: 'wanted again' },
  pruned: { kind: 'pruned' },
};

/** Returns the part after an event, or undefined if the event is refused. */
function outcome(part: Part, event: PartEvent): Part | undefined {
  try {
    return next(part, event);
  } catch (error) {
    if (isSvcError(error, 'bug')) return undefined;
    throw error;
  }
}

interface Crossing {
  readonly name: string;
  readonly before: Part;
  readonly event: string;
  readonly after: Part | undefined;
}

/** Combines every state, with and without an earlier job, with every event. */
function allCrossings(): Crossing[] {
  const pasts = [{}, { earlier_jobs: [EARLIER] }];
  return Object.entries(STATES).flatMap(([state, bare]) =>
    pasts.flatMap((past) =>
      Object.entries(EVENTS).map(([event, happening]) => {
        const before: Part = { ...bare, ...past };
        return { name: `${state} × ${event}`, before, event, after: outcome(before, happening) };
      }),
    ),
  );
}

const CROSSINGS = allCrossings();
const POSSIBLE = CROSSINGS.flatMap((each) => (each.after === undefined ? [] : [{ ...each, after: each.after }]));

function jobsOf({ job, earlier_jobs: earlier = [] }: Part): string[] {
  return [...(job === undefined ? [] : [job]), ...earlier.map((each) => each.job)];
}

/** Tells whether the part may be uploaded without another look at what became of its file. */
function isFree(part: Part): boolean {
  return nextAct(part) === 'create' || nextAct(part) === 'upload';
}

/** Describes a part in a few words: its state and all members that are not its slice of the file. */
function words(part: Part): string {
  const { state, sent, earlier_jobs: earlier = [], results, unproven, errors, ...rest } = part;
  const times = ['creating_since', 'sent_at', 'expires_at', 'missing_since', 'done_at'].filter((name) => name in rest);
  const told = [
    sent === undefined ? state : `${state}, sent ${sent}`,
    ...(part.job === undefined ? [] : [part.job]),
    ...(part.joined === undefined ? [] : ['joined']),
    ...(part.seen === undefined ? [] : [`seen ${part.seen}`]),
    ...times,
    ...(results === undefined ? [] : [`results ${[results.sha256, results.proof, results.compared].join(' ').trim()}`]),
    ...(unproven === undefined ? [] : ['unproven']),
    ...(errors === undefined ? [] : ['errors']),
    ...earlier.map(({ job, ended, sent_at: at }) => `earlier ${job} ${ended}${at === undefined ? '' : ' sent_at'}`),
  ];
  return told.join(', ');
}

/** Describes a part without its earlier jobs, which would add up endlessly. */
function short(part: Part): string {
  return words({ ...part, earlier_jobs: undefined });
}

/** Returns a table of the part after each event in each state. A state refuses the events that it does not list. */
function table(): string {
  const sections = Object.entries(STATES).map(([name, part]) => {
    const rows = Object.entries(EVENTS).flatMap(([event, happening]) => {
      const before: Part = event === 'back' ? { ...part, earlier_jobs: [EARLIER] } : part;
      const after = outcome(before, happening);
      return after === undefined ? [] : [`  ${event.padEnd(46)} ${words(after)}`];
    });
    return [name, `  ${''.padEnd(46, '-')} ${words(part)}`, ...rows].join('\n');
  });
  return `${sections.join('\n\n')}\n`;
}

const OF_A_JOB = ['job', 'sent', 'sent_at', 'expires_at', 'missing_since', 'unprovable', 'seen', 'seen_at'];
const OF_AN_UPLOAD = [...OF_A_JOB, 'done_at', 'results', 'unproven'];

const MEMBERS_OF_ITS_JOB: Readonly<Record<PartState, readonly string[]>> = {
  planned: [],
  creating: [],
  created: OF_A_JOB,
  uploading: OF_A_JOB,
  uploaded: OF_AN_UPLOAD,
  unknown: OF_AN_UPLOAD,
  completed: OF_AN_UPLOAD,
  downloaded: OF_AN_UPLOAD,
  failed: [...OF_AN_UPLOAD, 'errors'],
};

const OF_NO_JOB = ['state', 'creating_since', 'earlier_jobs'];

describe('a part, in every state, by every event', () => {
  it('a part becomes what the table says', async () => {
    await expect(table()).toMatchFileSnapshot('part.table.txt');
  });

  it('R36 and R58: a part is free for another upload only where nothing that counts was sent, it failed, or its absence is proven', () => {
    expect(CROSSINGS).toHaveLength(Object.keys(STATES).length * 2 * Object.keys(EVENTS).length);
    for (const { name, before, event, after } of POSSIBLE) {
      if (isFree(before) || !isFree(after)) continue;
      const isProven =
        (sentOf(before) === 'some' && before.state === 'uploading') ||
        (before.state === 'failed' && event === 'retried') ||
        // The ledger says so, and binds the rows to no job.
        (event === 'freed' &&
          (before.joined !== undefined || before.state === 'unknown' || before.state === 'uploaded')) ||
        // The ledger binds other rows to the job, and this record sent nothing to it.
        (event === 'reassigned' && before.joined === undefined && before.sent_at === undefined) ||
        // Of the job of another run, only the ledger tells.
        (before.joined === undefined &&
          sentOf(before) === 'all' &&
          before.missing_since !== undefined &&
          event === 'not found, late, not in the list');
      expect([name, isProven]).toEqual([name, true]);
    }
  });

  it('R36 and R58: a part is not sent to its job while the store may have its file', () => {
    const sent = POSSIBLE.filter(({ event }) => event === 'sending');
    expect(sent.length).toBeGreaterThan(0);
    for (const { name, before } of sent) expect([name, sentOf(before)]).toEqual([name, 'some']);
  });

  it('R58: a part forgets no job that an upload was begun for, nor that its file was sent', () => {
    for (const { name, before, event, after } of POSSIBLE) {
      // The ledger keeps a job whose claim ended, or which has other rows.
      const isUnsent = ['forgotten', 'reassigned'].includes(event) && before.sent_at === undefined;
      const isForgotten = isUnsent || event === 'freed';
      const kept = isForgotten ? jobsOf(before).filter((job) => job !== 'job-1') : jobsOf(before);
      expect([name, jobsOf(after)]).toEqual([name, expect.arrayContaining(kept)]);
    }
    const gone = POSSIBLE.flatMap(({ name, before, after }) => {
      const left = after.earlier_jobs?.find(({ job, ended }) => job === 'job-1' && ended === 'gone');
      return left && sentOf(before) !== 'some' ? [[name, left.sent_at, before.sent_at]] : [];
    });
    expect(gone.length).toBeGreaterThan(0);
    for (const [name, kept, sentAt] of gone) expect([name, kept]).toEqual([name, sentAt]);
  });

  it('R74: a part keeps since when a creation is unclear until it is sent, goes back to a job, or was the only request', () => {
    for (const { name, before, event, after } of POSSIBLE) {
      if (before.creating_since === undefined) continue;
      const isCleared = ['not created', 'created', 'sending', 'back'].includes(event);
      expect([name, after.creating_since]).toEqual([name, isCleared ? undefined : before.creating_since]);
    }
  });

  it('a part keeps its rows, and has the members of its state and no others', () => {
    for (const { name, before, event, after } of POSSIBLE) {
      expect(after).toMatchObject(SLICE);
      const allowed = new Set([...Object.keys(SLICE), ...OF_NO_JOB, ...MEMBERS_OF_ITS_JOB[after.state]]);
      if (before.joined !== undefined && event !== 'freed') allowed.add('joined');
      expect([name, Object.keys(after).filter((member) => !allowed.has(member))]).toEqual([name, []]);
      // Writing and reading a record does not change it.
      expect([name, partOf(JSON.parse(JSON.stringify(after)) as RecordedPart)]).toEqual([name, after]);
    }
  });

  it('R59: a part takes results and reasons of one job for no other', () => {
    for (const { name, before, after } of POSSIBLE) {
      if (after.job === before.job) continue;
      expect([name, after.results, after.unproven, after.errors]).toEqual([name, undefined, undefined, undefined]);
    }
  });

  it('R36: a part comes to an end from wherever it can get to', () => {
    const leadsTo = new Map<string, Set<string>>();
    const open: Part[] = [{ ...SLICE, state: 'planned' }];
    for (let part = open.pop(); part; part = open.pop()) {
      if (leadsTo.has(short(part))) continue;
      const targets = new Set<string>();
      leadsTo.set(short(part), targets);
      for (const event of Object.values(EVENTS)) {
        const after = outcome(part, event);
        if (after === undefined) continue;
        targets.add(short(after));
        open.push({ ...after, earlier_jobs: [EARLIER] });
      }
    }
    const ends = new Set([...leadsTo.keys()].filter((state) => state.startsWith('downloaded')));
    for (let size = 0; size < ends.size;) {
      size = ends.size;
      for (const [state, targets] of leadsTo) if ([...targets].some((each) => ends.has(each))) ends.add(state);
    }
    expect(leadsTo.size).toBeGreaterThan(30);
    expect([...leadsTo.keys()].filter((state) => !ends.has(state))).toEqual([]);
  });

  it('a part stays as it was when what happens cannot follow, and says what that was', () => {
    const part: Part = { ...SLICE, state: 'uploading', ...SENDING, sent: 'all' };
    expect(() => apply(part, { kind: 'expired' })).toThrow('part 1 is uploading: "expired" cannot follow');
    expect(part).toEqual(STATES['uploading, sent all']);
  });

  it('a part keeps what a later version recorded of it', () => {
    const part = partOf({ ...SLICE, ...WAITING, state: 'created', color: 'blue' } as RecordedPart);
    apply(part, { kind: 'expired' });
    apply(part, { kind: 'creating', at: NOON });
    expect(part).toMatchObject({ state: 'creating', color: 'blue' });
  });

  it('a part is unsent until it has a job, and once that job is forgotten', () => {
    const unsent = Object.entries(STATES).filter(([, part]) => isUnsent(part));
    expect(unsent.map(([name]) => name)).toEqual(['planned', 'planned, creation unclear', 'creating']);
    expect(isUnsent({ ...SLICE, state: 'planned', earlier_jobs: [EARLIER] })).toBe(false);
  });
});

/** Describes a part after it is read. Its record may have less, or other members, than this version writes. */
function read(state: PartState, more: Partial<RecordedPart> = {}): string {
  const part = partOf({ ...SLICE, state, job: 'job-1', ...more });
  return part.sent === undefined ? part.state : `${part.state}, ${part.sent}`;
}

describe('a recorded part', () => {
  const begun = { sent_at: iso(NOON) };

  it.each<[PartState, string, string, string, string]>([
    ['created', 'created', 'uploading, all', 'uploading, all', 'uploaded, stored'],
    ['uploading', 'uploading, all', 'uploading, all', 'uploading, all', 'uploaded, stored'],
    ['uploaded', 'uploaded, stored', 'uploaded, stored', 'uploaded, stored', 'uploaded, stored'],
    ['unknown', 'unknown, stored', 'unknown, stored', 'unknown, all', 'unknown, stored'],
    ['completed', 'completed, stored', 'completed, stored', 'completed, stored', 'completed, stored'],
    ['failed', 'failed, stored', 'failed, stored', 'failed, stored', 'failed, stored'],
  ])('R36: %s of an older version is taken for as far as the store may have it', (state, bare, sentAt, all, later) => {
    expect([read(state), read(state, begun), read(state, { sent: 'all' })]).toEqual([bare, sentAt, all]);
    expect(read(state, { sent: 'in the words of a later version', ...begun })).toBe(later);
  });

  it('R36: a recorded part of which less was sent than its state says is believed only before the upload was over', () => {
    const states = ['created', 'uploading', 'uploaded', 'unknown', 'completed', 'failed'] as const;
    expect(states.map((state) => read(state, { sent: 'some', ...begun }))).toEqual([
      'created, some',
      'uploading, some',
      'uploaded, stored',
      'unknown, all',
      'completed, stored',
      'failed, stored',
    ]);
  });

  it('R58: a recorded part with a job has that job, whatever its state says', () => {
    expect([read('planned'), read('creating')]).toEqual(['created', 'created']);
    expect(read('planned', { sent: 'stored' })).toBe('uploaded, stored');
  });

  it('R58: a recorded part without a job has nothing of one, and keeps since when its creation is unclear', () => {
    const recorded = { ...SLICE, ...MISSING, seen: 'pending', creating_since: iso(NOON) };
    for (const state of ['planned', 'creating'] as const)
      expect(partOf({ ...recorded, state })).toEqual({ ...SLICE, state, creating_since: iso(NOON) });
  });

  it('a recorded part without the results that its state says it has is to be downloaded', () => {
    expect(read('downloaded')).toBe('completed, stored');
    expect(read('downloaded', { results: RESULTS })).toBe('downloaded, stored');
  });
});

/** Returns the path below src/au and the text of every file that mentions parts. */
function sourceFiles(): [path: string, text: string][] {
  const root = fileURLToPath(new URL('../../../src/au/', import.meta.url));
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const files = paths.map((path): [string, string] => [
    path.replaceAll('\\', '/'),
    readFileSync(`${root}/${path}`, 'utf8'),
  ]);
  return files.filter(([, text]) => /\bparts?\b/.test(text));
}

/** Returns the targets of a node that is an assignment, a `delete`, or a call that writes members. */
function targetsOf(node: Node): unknown[] {
  const { type, left, argument, operator, callee, arguments: args } = node;
  if (type === 'AssignmentExpression') {
    const elements = isNode(left) && left['type'] === 'ArrayPattern' ? left['elements'] : [left];
    return Array.isArray(elements) ? elements : [];
  }
  if (type === 'UpdateExpression' || (type === 'UnaryExpression' && operator === 'delete')) return [argument];
  const writes = ['assign', 'deleteProperty', 'set', 'defineProperty', 'defineProperties'];
  const isWriter =
    type === 'CallExpression' &&
    isNode(callee) &&
    ['Object', 'Reflect'].includes(lastName(callee['object']) ?? '') &&
    writes.includes(lastName(callee['property']) ?? '');
  return isWriter && Array.isArray(args) ? [{ type: 'MemberExpression', object: args[0] }] : [];
}

/** Tells whether a node writes a member of a variable named `part`, or of an item of `parts`. */
function changesPart(node: Node): boolean {
  return targetsOf(node).some((target) => {
    if (!isNode(target) || target['type'] !== 'MemberExpression') return false;
    const { object } = target;
    const name = lastName(object) ?? (isNode(object) && object['type'] === 'MemberExpression' ? '' : undefined);
    const owner = isNode(object) && object['type'] === 'MemberExpression' ? lastName(object['object']) : undefined;
    return /^parts?$/.test(name ?? '') || /^parts?$/.test(owner ?? '');
  });
}

describe('the record of a part', () => {
  it('R36: the record of a part is written by one file', () => {
    const writers = sourceFiles().filter(([path, text]) => nodesOf(path, text).some(changesPart));
    expect(writers.map(([path]) => path)).toEqual(['run/part.ts']);
  });

  it.each([
    `part.state = 'planned'`,
    `part.done_at ??= now`,
    `delete part.job`,
    `delete part[name]`,
    `part.results.proof = 'content'`,
    `record.parts[0].state = 'planned'`,
    `run.record.parts[1] = other`,
    `[part.job, part.state] = [id, 'uploaded']`,
    `Object.assign(part, { state: 'planned' })`,
    `Reflect.deleteProperty(part, 'job')`,
  ])('the record of a part is seen to be written by `%s`', (text) => {
    expect(nodesOf('a.ts', text).some(changesPart)).toBe(true);
  });

  it.each([`const { state } = part`, `record.results = part.results`, `Object.assign({}, part)`])(
    'the record of a part is not written by `%s`',
    (text) => {
      expect(nodesOf('a.ts', text).some(changesPart)).toBe(false);
    },
  );
});
