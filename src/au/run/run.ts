import { SvcError } from '../../base/errors.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { Part, ResultsFile } from './part.ts';
import { isUntouched, type ResultCounts, type RunRecord, type RunStatus, statusOf } from './record.ts';

// This file alone changes the members of a run's record outside its parts, which part.ts changes. It uses no clock, no
// disk and no service: `applyToRun` writes the run after an event into the record, and the caller saves the record.

/** The state of a run. A run that sent nothing can be taken over by another submission, even if it was abandoned. */
export type RunState = RunStatus | 'not sent';

export function runState(record: RunRecord): RunState {
  return isUntouched(record) ? 'not sent' : statusOf(record);
}

/** The events of a run by name, with the facts that the record needs. Times are in epoch milliseconds. */
interface Events {
  /** Another submission of the file takes over the run, which has sent nothing. */
  readonly adopted: {
    readonly profile: string;
    readonly baseUrl: string;
    readonly name: string;
    readonly tenant: string | undefined;
    readonly cycle: string | undefined;
  };
  /** The run's file was submitted, for the first time or again. */
  readonly submitted: Submission;
  /** The service named the tenant of the run's jobs. */
  readonly bound: { readonly tenant: string };
  /** The jobs at the service were compared with the records of this machine. `jobs` have no record. */
  readonly compared: { readonly jobs: readonly string[] };
  /** Parts that sent nothing were divided again, because other jobs have some of their rows. */
  readonly divided: { readonly parts: readonly Part[] };
  readonly abandoned: { readonly at: number };
  /** The operator undid the abandonment of the run. */
  readonly resumed: object;
  /** The merged results are about to get their final name. */
  readonly writing: { readonly file: ResultsFile };
  readonly delivered: { readonly file: ResultsFile };
  /** The rows of the results were counted. */
  readonly counted: { readonly counts: ResultCounts };
  /** The left-out rows that may have an error as their result were counted. */
  readonly 'errors left out': { readonly rows: number };
  /** The results of a part were spoiled. The merged file still belongs to the run and must be replaced. */
  readonly spoiled: object;
  /** The results and the service's messages about the rows are about to be removed. */
  readonly pruned: { readonly at: number };
}

/** The operator's choices when submitting the file. */
interface Submission {
  readonly out: string;
  readonly baseUrl: string;
  /** The path of the file; undefined for standard input. */
  readonly path: string | undefined;
  readonly cycle: string | undefined;
  readonly onlyRecorded: boolean;
}

export type RunEvent = { readonly [K in keyof Events]: { readonly kind: K } & Events[K] }[keyof Events];

type Step<K extends keyof Events> = (record: RunRecord, event: Events[K]) => RunRecord;

/** The allowed states of each event, and the step that the event causes. All other pairs are bugs. */
type Life = { readonly [K in keyof Events]: { readonly [S in RunState]?: Step<K> } };

const LIFE: Life = {
  adopted: { 'not sent': adopt },
  submitted: inStates(submit, 'not sent', 'open', 'failed', 'completed', 'abandoned'),
  bound: inStates(bind, 'not sent', 'open', 'failed'),
  compared: inStates(
    (record, { jobs }) => ({ ...record, unrecorded_jobs: jobs.length === 0 ? undefined : jobs }),
    'not sent',
    'open',
    'failed',
  ),
  divided: inStates((record, { parts }) => ({ ...record, parts }), 'not sent', 'open', 'failed'),
  abandoned: inStates(
    (record, { at }) => ({ ...record, abandoned_at: record.abandoned_at ?? isoTime(at) }),
    'not sent',
    'open',
    'failed',
    'abandoned',
  ),
  resumed: inStates(
    (record) => ({ ...record, abandoned_at: undefined, pruned_at: undefined }),
    'not sent',
    'abandoned',
  ),
  // An abandoned run can have the results of some parts.
  writing: inStates((record, { file }) => ({ ...record, writing: file }), 'completed', 'abandoned'),
  delivered: inStates(
    (record, { file }) => ({ ...record, results: file, writing: undefined }),
    'completed',
    'abandoned',
  ),
  counted: inStates((record, { counts }) => ({ ...record, counts }), 'completed', 'abandoned'),
  'errors left out': inStates((record, { rows }) => ({ ...record, left_out_errors: rows }), 'completed', 'abandoned'),
  spoiled: inStates(spoil, 'open', 'failed', 'abandoned'),
  pruned: inStates(
    (record, { at }) => ({ ...record, pruned_at: isoTime(at) }),
    'not sent',
    'failed',
    'completed',
    'abandoned',
  ),
};

/**
 * Writes the run after an event into its record.
 * @throws SvcError `bug` for an event that cannot occur in this state
 */
export function applyToRun(record: RunRecord, event: RunEvent): void {
  const after = follow(event.kind, record, event);
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) Reflect.deleteProperty(record, name);
    else Reflect.set(record, name, value);
  }
}

function follow<K extends keyof Events>(kind: K, record: RunRecord, event: Events[K]): RunRecord {
  const step = LIFE[kind][runState(record)];
  return step === undefined ? refuse(record, kind) : step(record, event);
}

function refuse(record: RunRecord, kind: keyof Events): never {
  throw new SvcError('bug', `${record.id} is ${runState(record)}: "${kind}" cannot follow`);
}

function inStates<K extends keyof Events>(
  step: Step<K>,
  ...states: RunState[]
): { readonly [S in RunState]?: Step<K> } {
  return Object.fromEntries(states.map((state) => [state, step]));
}

function adopt(record: RunRecord, { profile, baseUrl, name, tenant, cycle }: Events['adopted']): RunRecord {
  return {
    ...record,
    profile,
    base_url: baseUrl,
    input: { ...record.input, name },
    cycle: cycle ?? record.cycle,
    tenant_id: tenant,
    also_at: undefined,
    abandoned_at: undefined,
  };
}

function submit(record: RunRecord, submission: Submission): RunRecord {
  const { out, baseUrl, path, cycle, onlyRecorded } = submission;
  const known = [record.base_url, ...(record.also_at ?? [])];
  return {
    ...record,
    out,
    cycle: cycle ?? record.cycle,
    input: path === undefined ? record.input : { ...record.input, path },
    no_unrecorded_jobs: onlyRecorded || undefined,
    also_at: known.includes(baseUrl) ? record.also_at : [...(record.also_at ?? []), baseUrl],
  };
}

/** Records the tenant of a run. It never changes, because a single tenant pays for the run's jobs. */
function bind(record: RunRecord, { tenant }: Events['bound']): RunRecord {
  if (record.tenant_id !== undefined && record.tenant_id !== tenant) return refuse(record, 'bound');
  return { ...record, tenant_id: tenant };
}

function spoil(record: RunRecord): RunRecord {
  return {
    ...record,
    pruned_at: undefined,
    writing: record.results ?? record.writing,
    results: undefined,
    counts: undefined,
    left_out_errors: undefined,
  };
}
