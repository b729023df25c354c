import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import { countText, isoTime, utcTime } from '../../cli/output/time.ts';
import { byText } from './claims.ts';
import { isFileCycle } from './cycle-names.ts';
import type { ClaimEntry } from './entry.ts';
import { provableFrom, provableUntil } from './proof-of-absence.ts';

/** What is not known of a job, in words about the job. The rows of the last three are paid for. */
const DOUBTS = {
  missing: (job: string) => `whether the service has the rows of ${job}`,
  sent: (job: string) =>
    `the whole file of ${job} was sent, no response said that it was stored, and the job is still pending`,
  confirmed: (job: string) => `the store confirmed the file of ${job}, and the service does not find the job`,
  unknown: (job: string) => `which rows ${job} has is not known: no copy of them was found`,
  read: (job: string) => `the service does not find ${job}, whose results were read only for the tokens that they made`,
  delivered: (job: string) => `the service does not find ${job}, whose results were read before`,
  shown: (job: string) => `the service does not find ${job}, though it just showed it as completed`,
};

/** A claim of which it is not known what became of its rows, so that these are not sent again. */
export interface Doubt {
  readonly claim: ClaimEntry;
  readonly why: keyof typeof DOUBTS;
}

interface Doubting {
  /** The name of the cycle that has the claims. */
  readonly cycle: string;
  readonly now: number;
  /** The command that looks for a job later whose rows are paid for. */
  readonly again?: readonly string[] | undefined;
  /** The end of the message. */
  readonly ending?: string;
}

/**
 * Returns the error for some doubts: it names all of them, and says what to do about the one that needs the operator most.
 * Undefined if there are none.
 */
export function doubtError(doubts: readonly [Doubt, ...Doubt[]], how: Doubting): SvcError;
export function doubtError(doubts: readonly Doubt[], how: Doubting): SvcError | undefined;
export function doubtError(
  doubts: readonly Doubt[],
  { cycle, now, again, ending = '' }: Doubting,
): SvcError | undefined {
  const claims = doubts.map(({ claim }) => claim);
  const [first] = claims;
  if (first === undefined) return undefined;
  const rows = claims.reduce((sum, claim) => sum + claim.rows, 0);
  const known = doubts.flatMap((doubt) => (settlesItself(doubt) ? (provableFrom(doubt.claim) ?? []) : []));
  const last = Math.max(...known);
  const moves = doubts.map((doubt) => moveOf(doubt, { cycle, now, again }));
  const move = moves.find(({ retryable }) => retryable === false) ?? moves[0];
  return new SvcError('outcome_unknown', doubts.map((doubt) => doubtText(doubt, cycle, now)).join('; ') + ending, {
    ...move,
    facts: {
      ...(claims.length === 1 && { job: first.job }),
      jobs: claims.map((claim) => claim.job),
      cycle,
      rows,
      ...(last > now && { settled_after: isoTime(last) }),
    },
  });
}

/** Tells whether a doubt is over once it can be proven that the job has no file. */
function settlesItself({ why }: Doubt): boolean {
  return why === 'missing' || why === 'sent';
}

function doubtText({ claim, why }: Doubt, cycle: string, now: number): string {
  const text = DOUBTS[why](jobText(claim, cycle));
  if (why === 'missing') return `${text} ${knownText(claim, now)}`;
  const from = provableFrom(claim) ?? 0;
  return why === 'sent' && from > now
    ? `${text}, which is settled at ${utcTime(from)} by the service's clock at the latest`
    : text;
}

/** Returns what to do about a doubt: wait, ask another machine, or decide. */
function moveOf({ claim, why }: Doubt, { cycle, now, again }: Doubting): ErrorDetails {
  const { job } = claim;
  const status = ['au', 'status', job];
  const isLate = why === 'unknown' || (why !== 'shown' && now > provableUntil(claim));
  if (why === 'read' || why === 'delivered' || why === 'shown') {
    const paid = 'The rows are paid for and are not sent again.';
    const later = `${paid} The service may lag: run the same command again later.`;
    if (!isLate) return { hint: later, next: again ?? status, retryable: true };
    if (why === 'read') {
      const close = `${paid} If nobody needs the results, which ${byText(claim)} may have, close the job, which frees no rows:`;
      return { hint: close, next: ['au', 'abandon', job], retryable: false };
    }
    const elsewhere = `${paid} A machine that has the results writes all of them with the same command. The jobs of the cycle:`;
    return { hint: elsewhere, next: ['au', 'status', cycle], retryable: false };
  }
  if (isLate) {
    const only =
      why === 'unknown'
        ? `Get the results of job ${job}. Only if they have no row of your file`
        : `Find out what became of job ${job}. Only if its file was not processed`;
    return {
      hint: `${only}, free its rows with the second of these commands and submit them again: rows that were processed are then paid for twice.`,
      next: status,
      alternatives: [['au', 'abandon', job]],
      retryable: false,
    };
  }
  const word =
    why === 'confirmed'
      ? ` If the service does not find the job after ${utcTime(provableUntil(claim))}, its rows can be freed on your word.`
      : '';
  const when = why !== 'confirmed' && (provableFrom(claim) ?? now) > now ? 'after that' : 'later';
  return {
    hint: `Run the same command again ${when}. Nothing is sent again meanwhile.${word}`,
    next: status,
    retryable: true,
  };
}

/** Says when it is known whether the service has the rows of a claim whose job it does not find. */
export function knownText(claim: Pick<ClaimEntry, 'created_at' | 'expires_at'>, now: number): string {
  if (now > provableUntil(claim))
    return 'cannot be proven any more: the service does not find the job, and may have forgotten it after 7 days';
  const from = provableFrom(claim);
  return from !== undefined && from > now
    ? `is known at ${utcTime(from)} by the service's clock`
    : 'is not known yet: the service does not find the job';
}

/** Names a job with its rows, and says who sent them. A file without a cycle has no name for it. */
export function jobText({ job, rows, file, by }: ClaimEntry, cycle: string): string {
  const of = isFileCycle(cycle) ? '' : ` of cycle ${cycle}`;
  return `job ${job} with ${countText(rows, 'row')}${of}, sent by ${byText({ by })} as ${file.name}`;
}

/**
 * Returns the error for results that a machine must not deliver: their new tokens would be paid for in the cycle that made
 * them, since the ledger does not know them.
 */
export function undeliveredError(error: SvcError, job: string): SvcError {
  return error.with({
    message: `the results of job ${job} were not delivered: the ledger does not know their new tokens yet, and this machine may only read it`,
    hint: 'Get the results once on a machine that may write to the ledger, with the command below. Then run the same command here again.',
    next: ['au', 'download', job],
    facts: { job },
  });
}
