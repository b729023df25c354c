import { Chance } from '../support/chance.ts';
import type { Denial } from './adversary.ts';
import { cycleSteps } from './cycles.ts';
import type { Ending } from './process.ts';
import { operatorSteps } from './habits.ts';
import { machineSteps, withoutVolume } from './machines.ts';
import { refreshSteps } from './refreshes.ts';

/** Where something happens: the number of a machine, which is 0 for the first. */
interface Place {
  readonly on?: number;
}

/** The circumstances of a process: how it is started, and what goes wrong for it. */
export interface Circumstances extends Place {
  /** Faults of its exchanges in the tool's own syntax. The effect `stale` repeats an earlier response. */
  readonly faults?: readonly string[];
  readonly ending?: Ending;
  /** The keys it gets instead of the tenant's: another tenant's at the same address, useless ones, or none. */
  readonly keys?: 'theirs' | 'none' | 'expired' | 'read-only';
  /** The address it uses instead of the usual one: another name of the same machine, or where nobody listens. */
  readonly at?: 'by name' | 'nowhere';
  /** The error of its machine's clock in milliseconds. */
  readonly skewMs?: number;
  /** The first of its steps at which the disk is full: to the end, or for `fullFor` steps. */
  readonly fullAt?: number;
  readonly fullFor?: number;
  /** Whether the volume of the shared ledger is not mounted on its machine. */
  readonly isUnmounted?: boolean;
}

/** A request file, or an export from which one is prepared. */
export type WrittenFile = 'tokens.csv' | 'other.csv' | 'export.csv';

/** A step of a history, taken by an operator, by cron or by bad luck. */
export type Step =
  | ({
      readonly do: 'run';
      /** The words after `svc`; JOB stands for the newest job of a ledger. */
      readonly type: string;
      /** Whether the next step begins before the command ends. */
      readonly inBackground?: boolean;
    } & Circumstances)
  /** Types a command that the last process printed, if it printed one. */
  | ({ readonly do: 'resume' } & Circumstances)
  /** Types the printed command with this number, even a costly one. `back` skips later processes that printed any. */
  | ({ readonly do: 'hint'; readonly number: number; readonly back?: number } & Circumstances)
  /** Restores the state directory as it was before the last `commands` commands. */
  | ({ readonly do: 'restore'; readonly commands: number } & Place)
  /** Loses the state directory. */
  | ({ readonly do: 'lose' } & Place)
  /** Removes the first row of the request file, or of the export from which it is prepared. */
  | { readonly do: 'edit'; readonly file: 'tokens.csv' | 'export.csv' }
  /**
   * Writes a request file with these rows of the example. A number from 100 on is a row of the same token for another
   * merchant, and one from 200 on for a third. The `changed` ones get another expiration, and the tokens of `capitals` are
   * written in capitals.
   */
  | ({
      readonly do: 'write';
      readonly file: WrittenFile;
      readonly rows: readonly number[];
      readonly changed: readonly number[];
      readonly capitals?: readonly number[];
    } & Place)
  /** Replaces the tokens of a file with the new ones in the results that the machine has. */
  | ({ readonly do: 'apply'; readonly file: WrittenFile } & Place)
  /** Gives two request files each other's name. */
  | { readonly do: 'swap' }
  /** Replaces the keys of the tenant. Later commands get the new ones. */
  | { readonly do: 'rotate' }
  /** Submits a hundred files of another system of the tenant, so that the first page of the list has no other job. */
  | { readonly do: 'crowd' }
  /** Turns all completed jobs of the service into failed ones. */
  | { readonly do: 'fail' }
  | { readonly do: 'pass'; readonly minutes: number }
  /** Sets what goes wrong for every process until the next weather. */
  | ({ readonly do: 'weather' } & Weather)
  /** Damages what the machine recorded of its newest job. */
  | { readonly do: 'damage'; readonly to: 'empty' | 'null' | 'cut' | 'newer' };

/** The trouble that every process meets. */
export interface Weather {
  readonly faults: readonly string[];
  readonly denies?: Denial;
  /** Whether no process can reach a server. */
  readonly isCutOff?: boolean;
}

/** The seed and the steps of a world. Everything that happens in it follows from them. */
export interface History {
  readonly seed: number;
  /** The number of machines, which share a ledger. One machine, unless given, has its own. */
  readonly machines?: number;
  readonly steps: readonly Step[];
}

const JOB = 'GET /account-updater/jobs/*';
const JOBS = 'GET /account-updater/jobs';
const PUT = 'PUT /store/requests/*';
const CREATE = 'POST /account-updater/jobs';
const RESULT = 'GET /store/results/*';
const SUBMISSION_CALLS = [JOB, JOB, JOBS, CREATE, PUT, PUT, RESULT, '* /**'];
const LOG_CALLS = ['GET /logs', 'GET /logs', 'GET /logs', 'GET /tenants/self', '* /**'];

const PAGE = 'content-type=text/html,body=<html><h1>Not here</h1></html>';
const JSON_TYPE = 'content-type=application/json';

/** Effects of the service, a gateway or the network on an exchange. A repeated one is drawn more often. */
const EFFECTS = lines(`
  404 | 404 | 404,${PAGE} | 200,${PAGE} | 503,${PAGE} | 400 | 401 | 403 | 409
  500 | 500,applied | 502 | 503 | 503,applied | 504 | 429 | 429,retry-after=2
  reset | reset,applied | reset,applied | reset=20 | truncate=30 | truncate=200 | malformed
  hang | hang,applied | hang=body | latency=90s | body= | 200,${JSON_TYPE},body={} | stale | stale
  redirect=http://elsewhere.example/ | redirect=http://127.0.0.1:9/
  date=Sat Jan 5 13:00:00 2030 | date=Thu Jan 1 00:00:00 1970
`);

/** Effects that send a false list: an empty one, or an earlier one. */
const LIST_EFFECTS = [`200,${JSON_TYPE},body={"data":[]}`, 'stale'];

/** Effects on a result file: cut or foreign contents, some with a matching length. */
const RESULT_EFFECTS = lines(
  `cut | cut | 200,body= | 200,${PAGE} | 200,body=token | truncate=300 | reset=300 | 206 | 416`,
);

/** The commands of histories about submissions. A repeated one is drawn more often. */
const SUBMISSIONS = lines(`
  au submit tokens.csv | au submit tokens.csv --wait --timeout 20m | au submit tokens.csv --wait --timeout 30s
  au submit tokens.csv --cycle 2026-01 | au submit tokens.csv --wait --timeout 20m --cycle 2026-02
  au submit tokens.csv | au resume | au resume | au resume
  au resume --dry-run | au status JOB | au jobs | au resume JOB --wait --timeout 20m | au download JOB --out copy.csv --force
`);

/** Long outages in which the service, or a gateway before it, denies jobs that exist. */
const OUTAGES: readonly Weather[] = [
  { faults: [], denies: 'acknowledged' },
  { faults: [], denies: 'behind a gateway' },
  { faults: [`404@${JOB}`, `stale@${JOBS}`] },
  { faults: [`404,${PAGE}@${JOB}`, `stale@${JOBS}`] },
];

/** All weathers, including fine ones. */
const WEATHERS: readonly Weather[] = [
  ...OUTAGES,
  { faults: [] },
  { faults: [`404@${JOB}`, `200,${JSON_TYPE},body={"data":[]}@${JOBS}`] },
  { faults: [`503@${JOBS}:0.5`] },
  { faults: [`503,applied@${PUT}`] },
  { faults: [`reset,applied@${PUT}`, `stale@${JOBS}`] },
  { faults: [`cut@${RESULT}`] },
  { faults: [`cut@${RESULT}`] },
  { faults: ['429,retry-after=2@* /**:0.4'] },
];

/** Effects after which the tool cannot know whether a file was stored. */
const UNCLEAR = lines('reset,applied | reset,applied | hang,applied | 503,applied | 500,applied | reset | 503');

/** The time of the first wanted log entry: an hour before a world begins. */
export const SINCE = '2026-01-05T11:00:00Z';

/** The tail whose output is checked. It continues from its checkpoint. */
export const TAIL = `logs tail --checkpoint tail.json --since ${SINCE} -o jsonl`;
export const ARCHIVE = `logs archive audit --since ${SINCE}`;

const LOGS = lines(`
  ${TAIL} --for 1m | ${TAIL} --for 10m | ${TAIL} --for 30m | ${TAIL} --max 7 --for 1h
  ${ARCHIVE} | ${ARCHIVE} | ${ARCHIVE} | logs verify audit | au submit tokens.csv | au resume | tenant show
`);

/** The main subject of a history. */
export type Subject = 'submissions' | 'operators' | 'cycles' | 'machines' | 'refreshes' | 'logs';

/** Returns the history of a seed. */
export function historyOf(subject: Subject, seed: number): History {
  const chance = new Chance(seed);
  if (subject === 'operators') return { seed, steps: operatorSteps(chance) };
  if (subject === 'cycles') return { seed, steps: cycleSteps(chance) };
  if (subject === 'refreshes') return { seed, ...withoutVolume(seed, refreshSteps(chance)) };
  if (subject === 'machines') return { seed, ...withoutVolume(seed, machineSteps(chance)) };
  if (subject === 'logs') return { seed, steps: Array.from({ length: chance.between(2, 6) }, () => logStep(chance)) };
  const opening = chance.happens(0.6) ? accident(chance) : [];
  const rest = Array.from({ length: chance.between(1, 4) }, () => submissionStep(chance));
  return { seed, steps: [...opening, ...rest] };
}

/** Draws a submission that fails at a critical moment, and what follows: often commands during a long outage. */
function accident(chance: Chance): Step[] {
  const type = chance.oneOf(['au submit tokens.csv', 'au submit tokens.csv --wait --timeout 20m']);
  const submission: Step = { do: 'run', type, ...misfortuneOf(chance) };
  const pause: Step[] = chance.happens(0.2) ? [{ do: 'pass', minutes: chance.oneOf([1, 5, 20]) }] : [];
  // The next command has the keys of another tenant, such as in another terminal.
  if (chance.happens(0.25)) return [submission, ...pause, { do: 'run', type: 'au resume', keys: 'theirs' }];
  if (chance.happens(0.25)) return [submission, ...pause, commandOf(chance, SUBMISSIONS, {})];
  const outage: Step = { do: 'weather', ...chance.oneOf(OUTAGES) };
  const rounds = Array.from({ length: chance.between(2, 4) }, () => round(chance)).flat();
  return [submission, ...pause, outage, { do: 'pass', minutes: chance.oneOf([1, 61, 61, 24 * 60]) }, ...rounds];
}

function misfortuneOf(chance: Chance): Circumstances {
  if (chance.happens(0.5)) return { ending: criticalEnding(chance) };
  const call = chance.happens(0.7) ? PUT : CREATE;
  return { faults: [`${chance.oneOf(UNCLEAR)}@${call}:#${chance.between(1, 3)}`] };
}

/** Draws a command that cron runs every half hour, or an operator by hand. */
function round(chance: Chance): Step[] {
  const pass: Step = { do: 'pass', minutes: 30 };
  return [commandOf(chance, ['au resume', 'au resume', 'au submit tokens.csv --wait --timeout 20m'], {}), pass];
}

function lines(text: string): string[] {
  return text
    .split(/ \| |\n/)
    .map((part) => part.trim())
    .filter(Boolean);
}

function submissionStep(chance: Chance): Step {
  if (chance.happens(0.2)) return { do: 'pass', minutes: chance.oneOf([1, 5, 61, 24 * 60, 8 * 24 * 60]) };
  if (chance.happens(0.1)) return { do: 'weather', ...chance.oneOf(WEATHERS) };
  if (chance.happens(0.06)) return { do: 'damage', to: chance.oneOf(['empty', 'null', 'cut', 'newer']) };
  const circumstances = {
    ...circumstancesOf(chance, SUBMISSION_CALLS),
    ...(chance.happens(0.08) ? { keys: 'theirs' as const } : {}),
  };
  return commandOf(chance, SUBMISSIONS, circumstances);
}

// The service keeps entries for a day. Shorter pauses leave all entries in place for the comparison.
function logStep(chance: Chance): Step {
  if (chance.happens(0.2)) return { do: 'pass', minutes: chance.oneOf([1, 3, 20, 90]) };
  return commandOf(chance, LOGS, circumstancesOf(chance, LOG_CALLS, [-0.5, 1, 26]));
}

function commandOf(chance: Chance, commands: readonly string[], circumstances: Circumstances): Step {
  if (chance.happens(0.25)) return { do: 'resume', ...circumstances };
  const inBackground = chance.happens(0.15) ? { inBackground: true } : {};
  return { do: 'run', type: chance.oneOf(commands), ...circumstances, ...inBackground };
}

function circumstancesOf(chance: Chance, calls: readonly string[], skews = [-26, -1, 1, 26]): Circumstances {
  const faults = Array.from({ length: chance.oneOf([0, 0, 1, 1, 2, 3]) }, () => faultOf(chance, calls));
  return {
    ...(faults.length > 0 ? { faults } : {}),
    ...(chance.happens(0.35) ? { ending: endingOf(chance, calls.includes(PUT)) } : {}),
    ...(chance.happens(0.04) ? { fullAt: chance.between(1, 60) } : {}),
    ...(chance.happens(0.1) ? { skewMs: chance.oneOf(skews) * 3_600_000 } : {}),
  };
}

function faultOf(chance: Chance, calls: readonly string[]): string {
  const first = chance.between(1, 3);
  const when = chance.oneOf([`#${first}`, `#${first}-${first + chance.between(1, 4)}`, `#${first}-`, '0.3']);
  const call = chance.oneOf(calls);
  const own = call === JOBS ? LIST_EFFECTS : call.includes('/results/') ? RESULT_EFFECTS : EFFECTS;
  return `${chance.oneOf(chance.happens(0.5) ? own : EFFECTS)}@${call}:${when}`;
}

function endingOf(chance: Chance, hasUploads: boolean): Ending {
  if (hasUploads && chance.happens(0.3)) return criticalEnding(chance);
  const isOnWire = chance.happens(0.6);
  return {
    step: chance.between(1, isOnWire ? 12 : chance.oneOf([30, 120])),
    onWire: isOnWire,
    how: chance.oneOf(HOWS),
    ...(chance.happens(0.2) ? { power: true } : {}),
  };
}

/** Draws an ending soon after a request that must not be sent twice. */
function criticalEnding(chance: Chance): Ending {
  const since = chance.oneOf(['POST', 'PUT', 'PUT'] as const);
  const power = chance.happens(0.3) ? { power: true } : {};
  return { step: chance.between(1, chance.oneOf([4, 12, 40])), since, how: chance.oneOf(HOWS), ...power };
}

const HOWS = ['before', 'before', 'after', 'after', 'SIGINT', 'SIGTERM'] as const;
