import { Chance } from './random.ts';
import type { Ending } from './process.ts';

/** What an operator, or cron, does next. */
export type Step =
  | {
      readonly do: 'run';
      /** The words behind `svc`. */
      readonly type: string;
      /** Faults of the exchanges of this process, in the tool's own syntax. */
      readonly faults: readonly string[];
      readonly ending?: Ending;
      /** The next step does not wait for its end. */
      readonly inBackground?: boolean;
    }
  /** Types the command that the last process printed, if it printed one. */
  | { readonly do: 'resume'; readonly faults: readonly string[]; readonly ending?: Ending }
  | { readonly do: 'pass'; readonly minutes: number };

/** What happens in a world: all of it follows from this. */
export interface History {
  readonly seed: number;
  readonly steps: readonly Step[];
}

const JOB = 'GET /account-updater/jobs/*';
const LIST = 'GET /account-updater/jobs';
const CREATE = 'POST /account-updater/jobs';
const PUT = 'PUT /store/requests/*';
const RESULT = 'GET /store/results/*';
const ACCOUNT_UPDATER_CALLS = [JOB, JOB, LIST, CREATE, PUT, PUT, RESULT, '* /**'];

const PAGE = 'content-type=text/html,body=<html><h1>Not here</h1></html>';

/** What a service, a gateway before it or the way to it may do to an exchange. */
const EFFECTS = [
  '404', '404', `404,${PAGE}`, `200,${PAGE}`, `503,${PAGE}`, '500', '500,applied', '502', '503', '503,applied', '504',
  '429', '429,retry-after=2', '403', '401', '409', 'reset', 'reset,applied', 'reset,applied', 'reset=20',
  'truncate=30', 'hang', 'hang,applied', 'hang=body', 'malformed', 'latency=90s', '200,body={}', '204',
  '200,content-type=application/json,body={"data":[]}', 'body=', 'redirect=http://elsewhere.example/',
  'redirect=http://127.0.0.1:9/', 'date=Sat Jan 5 13:00:00 2030', 'date=Thu Jan 1 00:00:00 1970',
]; // prettier-ignore

const COMMANDS = [
  'au submit tokens.csv',
  'au submit tokens.csv --wait --timeout 20m',
  'au submit tokens.csv --wait --timeout 30s',
  'au sync',
  'au sync',
  'au status',
];

/** The history of a seed. */
export function historyOf(seed: number): History {
  const chance = new Chance(seed);
  const steps = Array.from({ length: chance.between(2, 6) }, () => stepOf(chance));
  return { seed, steps };
}

function stepOf(chance: Chance): Step {
  if (chance.happens(0.2)) return { do: 'pass', minutes: chance.oneOf([1, 5, 61, 24 * 60, 8 * 24 * 60]) };
  const faults = faultsOf(chance);
  const ending = chance.happens(0.35) ? { ending: endingOf(chance) } : {};
  if (chance.happens(0.25)) return { do: 'resume', faults, ...ending };
  const isOverlapped = chance.happens(0.15) ? { inBackground: true } : {};
  return { do: 'run', type: chance.oneOf(COMMANDS), faults, ...ending, ...isOverlapped };
}

function faultsOf(chance: Chance): string[] {
  const count = chance.oneOf([0, 0, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => {
    const first = chance.between(1, 3);
    const when = chance.oneOf([
      `#${first}`,
      `#${first}-${first + chance.between(1, 4)}`,
      `#${first}-`,
      '0.3',
    ]);
    return `${chance.oneOf(EFFECTS)}@${chance.oneOf(ACCOUNT_UPDATER_CALLS)}:${when}`;
  });
}

function endingOf(chance: Chance): Ending {
  return {
    step: chance.between(1, chance.oneOf([30, 120])),
    how: chance.oneOf(['before', 'after', 'SIGINT', 'SIGTERM'] as const),
  };
}
