// The error for jobs whose rows may have been billed although no results are there, with what the operator can do.

import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import { isoTime, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { firstOf } from '../job/job.ts';
import { senderName } from './claims.ts';
import { isFileCycle } from './cycle-names.ts';
import type { ClaimEntry } from './entry.ts';
import { provableFrom, provableUntil } from './proof-of-absence.ts';

/** What is in doubt about a job. Rows of the kinds read, delivered and shown are paid for. */
const DOUBTS = {
  missing: (job: string) => `whether the service has the rows of ${job}`,
  sent: (job: string) =>
    `the whole file of ${job} was sent, no response said that it was stored, and the job is still pending`,
  confirmed: (job: string) => `the store confirmed the file of ${job}, and the service does not find the job`,
  unknown: (job: string) => `which rows ${job} has is not known: no copy of them was found`,
  read: (job: string) => `the service does not find ${job}, whose results were read only for the tokens that they made`,
  delivered: (job: string) => `the service does not find ${job}, whose results were read before`,
  shown: (job: string) => `the service does not find ${job}, though it just showed it as completed`,
  ended: (job: string, end = 'has ended') => `${job}, ${end}`,
};

/** A claim whose rows may have been billed, so that they are not sent again. */
export interface Doubt {
  readonly claim: ClaimEntry;
  readonly why: keyof typeof DOUBTS;
  /** How the job ended, for a status that svc does not know. */
  readonly end?: string | undefined;
}

interface DoubtContext {
  /** The name of the cycle with the claims. */
  readonly cycle: string;
  readonly now: number;
  /** The command that looks for a paid job later, as words. */
  readonly again?: readonly string[] | undefined;
  /** The end of the message. */
  readonly ending?: string;
}

/**
 * Returns the error for some doubts: it names three jobs of each kind, with all in its facts, and advises on the one that needs the operator most. Returns
 * undefined without doubts.
 */
export function doubtError(doubts: readonly [Doubt, ...Doubt[]], how: DoubtContext): SvcError;
export function doubtError(doubts: readonly Doubt[], how: DoubtContext): SvcError | undefined;
export function doubtError(
  doubts: readonly Doubt[],
  { cycle, now, again, ending = '' }: DoubtContext,
): SvcError | undefined {
  const claims = doubts.map(({ claim }) => claim);
  const [first] = claims;
  if (first === undefined) return undefined;
  const rows = claims.reduce((sum, claim) => sum + claim.rows, 0);
  const settledAt = doubts.flatMap((doubt) => (isSettledByTime(doubt) ? (provableFrom(doubt.claim) ?? []) : []));
  const lastSettledAt = Math.max(...settledAt);
  const advice = doubts.map((doubt) => adviceFor(doubt, { cycle, now, again }));
  const mostUrgent = advice.find(({ retryable }) => retryable === false) ?? advice[0];
  return new SvcError('outcome_unknown', doubtsText(doubts, cycle, now) + ending, {
    ...mostUrgent,
    facts: {
      ...(claims.length === 1 && { job: first.job }),
      jobs: claims.map((claim) => claim.job),
      cycle,
      rows,
      ...(lastSettledAt > now && { settled_after: isoTime(lastSettledAt) }),
    },
  });
}

/** How many jobs of a kind of doubt are named. */
const MOST_NAMED = 3;

/** Describes the doubts: of each kind the first in full, and then the ids of others. */
function doubtsText(doubts: readonly Doubt[], cycle: string, now: number): string {
  // The job whose doubt lasts longest is the first, so that its time counts for all of its kind.
  const sorted = doubts.toSorted((one, other) => (provableFrom(other.claim) ?? 0) - (provableFrom(one.claim) ?? 0));
  const kinds = new Map<string, Doubt[]>();
  for (const doubt of sorted) {
    const kind = [doubt.why, now > provableUntil(doubt.claim), doubt.end].join(' ');
    kinds.set(kind, [...(kinds.get(kind) ?? []), doubt]);
  }
  const texts = [...kinds.values()].map((kind) => {
    const [text = ''] = kind.map((doubt) => doubtText(doubt, cycle, now));
    const others = kind.slice(1).map(({ claim }) => claim);
    if (others.length === 0) return text;
    const rows = others.reduce((sum, claim) => sum + claim.rows, 0);
    const ids = firstOf(
      others.map(({ job }) => job),
      MOST_NAMED - 1,
    );
    return `${text}; the same is true of ${countText(others.length, 'other job')} with ${countText(rows, 'row')}: ${ids}`;
  });
  return texts.join('; ');
}

/** Tells whether a doubt ends at a known time, when a missing job proves that it never got its file. */
function isSettledByTime({ why }: Doubt): boolean {
  return why === 'missing' || why === 'sent';
}

function doubtText({ claim, why, end }: Doubt, cycle: string, now: number): string {
  const text = DOUBTS[why](jobText(claim, cycle), end);
  if (why === 'missing') return `${text} ${whenKnownText(claim, now)}`;
  const from = provableFrom(claim) ?? 0;
  return why === 'sent' && from > now
    ? `${text}, which is settled at ${utcTime(from)} by the service's clock at the latest`
    : text;
}

/** Returns the advice for a doubt: wait, use another machine, or let the operator decide. */
function adviceFor({ claim, why }: Doubt, { cycle, now, again }: DoubtContext): ErrorDetails {
  const { job } = claim;
  const status = ['au', 'status', job];
  const isLate = why === 'unknown' || why === 'ended' || (why !== 'shown' && now > provableUntil(claim));
  if (why === 'read' || why === 'delivered' || why === 'shown') {
    const paid = 'The rows are paid for and are not sent again.';
    const later = `${paid} The service may lag: run the same command again later.`;
    if (!isLate) return { hint: later, next: again ?? status, retryable: true };
    if (why === 'read') {
      const close = `${paid} If nobody needs the results, which ${senderName(claim)} may have, close the job, which frees no rows:`;
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

/** Returns the words that tell when it is known whether the service has the rows of a missing job. */
export function whenKnownText(claim: Pick<ClaimEntry, 'created_at' | 'expires_at'>, now: number): string {
  if (now > provableUntil(claim))
    return 'cannot be proven any more: the service does not find the job, and may have forgotten it after 7 days';
  const from = provableFrom(claim);
  return from !== undefined && from > now
    ? `is known at ${utcTime(from)} by the service's clock`
    : 'is not known yet: the service does not find the job';
}

/** Names a job with its rows, cycle and sender. The made-up cycle name of a file without a cycle is left out. */
export function jobText({ job, rows, file, by }: ClaimEntry, cycle: string): string {
  const ofCycle = isFileCycle(cycle) ? '' : ` of cycle ${cycle}`;
  return `job ${job} with ${countText(rows, 'row')}${ofCycle}, sent by ${senderName({ by })} as ${file.name}`;
}

/**
 * Returns the error for results that this machine must not deliver: it cannot enter their new tokens in the ledger, and rows with
 * these tokens would be billed in the same cycle.
 */
export function undeliveredError(error: SvcError, job: string): SvcError {
  return error.with({
    message: `the results of job ${job} were not delivered: the ledger does not know their new tokens yet, and this machine may only read it`,
    hint: 'Get the results once on a machine that may write to the ledger, with the command below. Then run the same command here again.',
    next: ['au', 'download', job],
    facts: { job },
  });
}
