import { readRequest } from './read-request.ts';
import { readResults } from './read-results.ts';
import { ResultCursor } from './result-cursor.ts';
import { TokenIndex } from './token-index.ts';

/** A file that can be read from its beginning again and again. */
export interface Rereadable {
  open(): AsyncIterable<Uint8Array>;
}

/** How the two files were held together. */
export type MatchedBy =
  /** The results stand in the order of the request. */
  | 'order'
  /** They do not: by the tokens of the request. */
  | 'token'
  /** They do not, and the request holds more tokens than memory may: the rows were counted, no more. */
  | 'count';

/** A row of the results that the request does not explain. */
export interface Oddity {
  /** Of the results; the first row below the header is 1. */
  readonly row: number;
  readonly kind: 'not_requested' | 'answered_again';
}

/** Results held against the request that they answer. */
export interface Reconciliation {
  /** Rows of the request. */
  readonly requested: number;
  /** Rows of the results. */
  readonly answered: number;
  /** Rows of the request that no row of the results answers: nothing about them changed. */
  readonly unchanged: number;
  /** Rows of the results whose token is not in the request. */
  readonly notRequested: number;
  /** Rows of the results whose token was answered before, as often as it was requested. */
  readonly answeredAgain: number;
  /** The first 20 such rows. */
  readonly oddities: readonly Oddity[];
  readonly matchedBy: MatchedBy;
}

const KEPT = 20;

/**
 * Tells whether each row of the results answers a row of the request. Where the results stand in the order of the
 * request, as the service's do, both are read once, side by side; else the request's tokens are looked up by their
 * hashes. The request is a file that was checked. Memory is flat either way.
 */
export async function reconcile(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex = new TokenIndex(),
): Promise<Reconciliation> {
  const counts = await compareInOrder(request, results);
  if (counts !== undefined) return { ...summed(counts.requested, counts.answered, []), matchedBy: 'order' };
  return compareByToken(request, results, index);
}

interface Counts {
  readonly requested: number;
  readonly answered: number;
}

/** Undefined when a row of the results has no counterpart in the rest of the request. */
async function compareInOrder(request: Rereadable, results: Rereadable): Promise<Counts | undefined> {
  const answers = await ResultCursor.open(results.open());
  let requested = 0;
  let answered = 0;
  try {
    for await (const rows of readRequest(request.open())) {
      requested += rows.length;
      for (const { token } of rows) {
        if (answers.row?.token !== token) continue;
        answered += 1;
        const more = answers.advance();
        if (more) await more;
      }
    }
    return answers.row === undefined ? { requested, answered } : undefined;
  } finally {
    await answers.close();
  }
}

async function compareByToken(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex,
): Promise<Reconciliation> {
  let requested = 0;
  for await (const rows of readRequest(request.open())) {
    requested += rows.length;
    for (const { token } of rows) index.ask(token);
  }
  let answered = 0;
  const oddities = new Oddities();
  for await (const rows of readResults(results.open())) {
    answered += rows.length;
    if (index.isFull) continue;
    for (const { token, row } of rows) {
      const found = index.answer(token);
      if (found !== 'asked') oddities.add(row, found === 'again' ? 'answered_again' : 'not_requested');
    }
  }
  const odd = oddities.counts.answered_again + oddities.counts.not_requested;
  return {
    ...summed(requested, answered - odd, oddities.first),
    answered,
    notRequested: oddities.counts.not_requested,
    answeredAgain: oddities.counts.answered_again,
    matchedBy: index.isFull ? 'count' : 'token',
  };
}

function summed(
  requested: number,
  answered: number,
  oddities: readonly Oddity[],
): Omit<Reconciliation, 'matchedBy'> {
  const unchanged = Math.max(0, requested - answered);
  return { requested, answered, unchanged, notRequested: 0, answeredAgain: 0, oddities };
}

class Oddities {
  readonly first: Oddity[] = [];
  readonly counts: Record<Oddity['kind'], number> = { not_requested: 0, answered_again: 0 };

  add(row: number, kind: Oddity['kind']): void {
    this.counts[kind] += 1;
    if (this.first.length < KEPT) this.first.push({ row, kind });
  }
}
