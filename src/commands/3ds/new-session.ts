import { isSvcError, SvcError } from '../../errors.ts';

/** Statuses after which a session is of no more use, and why. */
const SPENT: ReadonlyMap<number | undefined, string> = new Map([
  [409, 'A session can be authenticated once'],
  [424, 'Another party in 3-D Secure returned an error'],
]);

/** Says that a new session is needed where the service refused because this one cannot be used any more. */
export async function orNewSession<T>(work: Promise<T>, id: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const why = isSvcError(error, 'rejected') ? SPENT.get(error.status) : undefined;
    if (!isSvcError(error) || why === undefined) throw error;
    throw new SvcError('rejected', error.message, {
      status: error.status,
      requestId: error.requestId,
      facts: error.facts,
      cause: error,
      hint: `${why}: create a new session with 'svc 3ds create'. 'svc 3ds show ${id}' shows what this one holds.`,
    });
  }
}
