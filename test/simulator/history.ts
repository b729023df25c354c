import type { Denial } from './adversary.ts';
import { cycleSteps } from './cycles.ts';
import type { Ending } from './process.ts';
import { operatorSteps } from './habits.ts';
import { Chance } from './random.ts';

/** How a process is started, and what befalls it. */
export interface Circumstances {
  /** Faults of its exchanges in the tool's own syntax; the effect `stale` answers as the service did before. */
  readonly faults?: readonly string[];
  readonly ending?: Ending;
  /** Which keys it is given in place of the tenant's: those of another one at the same address, or none that help. */
  readonly keys?: 'theirs' | 'none' | 'expired' | 'read-only';
  /** Where it looks for the service: at another name of the same machine, or where nobody listens. */
  readonly at?: 'by name' | 'nowhere';
  /** How far its machine's clock is wrong. */
  readonly skewMs?: number;
  /** After so many of its steps the disk is full, until its end or for so many steps. */
  readonly fullAt?: number;
  readonly fullFor?: number;
}

/** What an operator, cron or misfortune does next. */
export type Step =
  | ({
      readonly do: 'run';
      /** The words behind `svc`; RUN stands for the newest run. */
      readonly type: string;
      /** The next step does not wait for its end. */
      readonly inBackground?: boolean;
    } & Circumstances)
  /** Types a command that the last process printed, if it printed one. */
  | ({ readonly do: 'resume' } & Circumstances)
  /** Types a printed command whatever it says: that of this number, of the last process that printed any, or earlier. */
  | ({ readonly do: 'hint'; readonly number: number; readonly back?: number } & Circumstances)
  /** Puts the state directory back as it was before so many commands. */
  | { readonly do: 'restore'; readonly commands: number }
  /** Changes a row of the request file or of the export that it is prepared from. */
  | { readonly do: 'edit'; readonly file: 'tokens.csv' | 'export.csv' }
  /** Makes a request file of the example's rows with these numbers, some with another expiration. */
  | {
      readonly do: 'write';
      readonly file: 'tokens.csv' | 'other.csv';
      readonly rows: readonly number[];
      readonly changed: readonly number[];
    }
  /** Gives two request files each other's name. */
  | { readonly do: 'swap' }
  /** The keys of the tenant are replaced, and commands get the new ones. */
  | { readonly do: 'rotate' }
  /** The service finds that the jobs it completed have failed. */
  | { readonly do: 'fail' }
  | { readonly do: 'pass'; readonly minutes: number }
  /** What goes wrong for every process from now on, until the next weather. */
  | ({ readonly do: 'weather' } & Weather)
  /** Something damages the record of the newest run. */
  | { readonly do: 'damage'; readonly to: 'empty' | 'null' | 'cut' | 'newer' };

/** What befalls whoever comes. */
export interface Weather {
  readonly faults: readonly string[];
  readonly denies?: Denial;
  /** Nobody can be reached. */
  readonly isCutOff?: boolean;
}

/** What happens in a world: all of it follows from this. */
export interface History {
  readonly seed: number;
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

/** What a service, a gateway before it or the way to it may do to an exchange; more often what is named twice. */
const EFFECTS = lines(`
  404 | 404 | 404,${PAGE} | 200,${PAGE} | 503,${PAGE} | 400 | 401 | 403 | 409
  500 | 500,applied | 502 | 503 | 503,applied | 504 | 429 | 429,retry-after=2
  reset | reset,applied | reset,applied | reset=20 | truncate=30 | truncate=200 | malformed
  hang | hang,applied | hang=body | latency=90s | body= | 200,${JSON_TYPE},body={} | stale | stale
  redirect=http://elsewhere.example/ | redirect=http://127.0.0.1:9/
  date=Sat Jan 5 13:00:00 2030 | date=Thu Jan 1 00:00:00 1970
`);

/** False bodies of a list: nothing is there, or it is what was there before. */
const LIST_EFFECTS = [`200,${JSON_TYPE},body={"data":[]}`, 'stale'];

/** What a store may do besides: cut or foreign files, some with a length that fits. */
const RESULT_EFFECTS = lines(
  `cut | cut | 200,body= | 200,${PAGE} | 200,body=token | truncate=300 | reset=300 | 206 | 416`,
);

/** More often what is named twice. */
const SUBMISSIONS = lines(`
  au submit tokens.csv | au submit tokens.csv --wait --timeout 20m | au submit tokens.csv --wait --timeout 30s
  au submit tokens.csv --cycle 2026-01 | au submit tokens.csv --wait --timeout 20m --cycle 2026-02
  au submit tokens.csv --run-dir elsewhere | au sync | au sync | au sync
  au runs | au status RUN | au jobs | au wait RUN --timeout 20m | au download RUN --out copy.csv --force
`);

/** A service, or a gateway before it, that denies what it has for long. */
const OUTAGES: readonly Weather[] = [
  { faults: [], denies: 'acknowledged' },
  { faults: [], denies: 'behind a gateway' },
  { faults: [`404@${JOB}`, `stale@${JOBS}`] },
  { faults: [`404,${PAGE}@${JOB}`, `stale@${JOBS}`] },
];

/** What may last besides. */
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

/** What leaves it open whether a file was stored. */
const UNCLEAR = lines('reset,applied | reset,applied | hang,applied | 503,applied | 500,applied | reset | 503');

/** From when on entries are wanted: an hour before a world begins. */
export const SINCE = '2026-01-05T11:00:00Z';

/** The tail whose output is checked; it goes on from its checkpoint. */
export const TAIL = `logs tail --checkpoint tail.json --since ${SINCE} -o jsonl`;
export const ARCHIVE = `logs archive audit --since ${SINCE}`;

const LOGS = lines(`
  ${TAIL} --for 1m | ${TAIL} --for 10m | ${TAIL} --for 30m | ${TAIL} --max 7 --for 1h
  ${ARCHIVE} | ${ARCHIVE} | ${ARCHIVE} | logs verify audit | au submit tokens.csv | au sync | tenant show
`);

/** What a history is mainly about. */
export type Subject = 'submissions' | 'operators' | 'cycles' | 'logs';

/** The history of a seed. */
export function historyOf(subject: Subject, seed: number): History {
  const chance = new Chance(seed);
  if (subject === 'operators') return { seed, steps: operatorSteps(chance) };
  if (subject === 'cycles') return { seed, steps: cycleSteps(chance) };
  if (subject === 'logs') return { seed, steps: Array.from({ length: chance.between(2, 6) }, () => logStep(chance)) };
  const opening = chance.happens(0.6) ? accident(chance) : [];
  const rest = Array.from({ length: chance.between(1, 4) }, () => submissionStep(chance));
  return { seed, steps: [...opening, ...rest] };
}

/** A submission that something befalls at its critical moments, often an outage of hours, and those who come then. */
function accident(chance: Chance): Step[] {
  const type = chance.oneOf(['au submit tokens.csv', 'au submit tokens.csv --wait --timeout 20m']);
  const submission: Step = { do: 'run', type, ...misfortuneOf(chance) };
  const pause: Step[] = chance.happens(0.2) ? [{ do: 'pass', minutes: chance.oneOf([1, 5, 20]) }] : [];
  // Somebody else's keys, such as those of another terminal.
  if (chance.happens(0.25)) return [submission, ...pause, { do: 'run', type: 'au sync', keys: 'theirs' }];
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

/** What cron does every half hour, or somebody by hand. */
function round(chance: Chance): Step[] {
  const pass: Step = { do: 'pass', minutes: 30 };
  return [commandOf(chance, ['au sync', 'au sync', 'au submit tokens.csv --wait --timeout 20m'], {}), pass];
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

// Entries are kept for a day: shorter pauses leave all of them to compare with.
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

/** One soon after a request that must not be made twice. */
function criticalEnding(chance: Chance): Ending {
  const since = chance.oneOf(['POST', 'PUT', 'PUT'] as const);
  const power = chance.happens(0.3) ? { power: true } : {};
  return { step: chance.between(1, chance.oneOf([4, 12, 40])), since, how: chance.oneOf(HOWS), ...power };
}

const HOWS = ['before', 'before', 'after', 'after', 'SIGINT', 'SIGTERM'] as const;
