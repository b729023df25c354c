import { SvcError } from '../errors.ts';
import { type Answer, PackedAnswers } from './packed-answers.ts';
import { readResults } from './read-results.ts';
import { ResultCursor } from './result-cursor.ts';

/** Gives to each row of a request, asked in its order, the row of the results that answers it. */
export interface Answers {
  /** The answer, or undefined at once where there is none. */
  take(token: string): Promise<Answer> | Answer | undefined;
  /** Closes the results. */
  close(): Promise<void>;
}

/** The most rows of results that are held in memory, where they do not stand in the order of the request. */
const MOST_HELD = 1_000_000;

/** Answers that stand in the order of the request: read along with it, in no memory. */
export async function answersInOrder(results: AsyncIterable<Uint8Array>): Promise<Answers> {
  const answers = await ResultCursor.open(results);
  return {
    take(token) {
      const { row } = answers;
      if (row?.token !== token) return undefined;
      return answers.advance()?.then(() => row) ?? row;
    },
    close: () => answers.close(),
  };
}

/**
 * Answers in any order, held in memory. A token that was requested again takes its next answer, and where there is
 * none left, the last one once more: an update counts for each row of the token.
 * @throws SvcError `refused_input` when there are more than may be held
 */
export async function answersByToken(
  results: AsyncIterable<Uint8Array>,
  mostHeld = MOST_HELD,
): Promise<Answers> {
  const held = new PackedAnswers();
  for await (const rows of readResults(results)) {
    for (const row of rows) {
      if (row.row > mostHeld) throw tooMany(mostHeld);
      held.add(row);
    }
  }
  return { take: (token) => held.take(token), close: () => Promise.resolve() };
}

function tooMany(mostHeld: number): SvcError {
  return new SvcError(
    'refused_input',
    `the results do not stand in the order of the request, or a token is requested twice; of such, ${mostHeld} rows can be held in memory, and there are more`,
    { hint: "Take the results as 'svc au download' gives them, and a request that names each token once." },
  );
}
