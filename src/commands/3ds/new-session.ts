import { isSvcError, SvcError } from '../../errors.ts';

const PARTY_ANSWERED_BADLY = 424;

/** Where a party behind 3DS answered badly, the session is spent: says so, with what to do. */
export async function orNewSession<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error) || error.status !== PARTY_ANSWERED_BADLY || error.code !== 'rejected') throw error;
    throw new SvcError('rejected', error.message, {
      status: error.status,
      requestId: error.requestId,
      facts: error.facts,
      cause: error,
      hint: "A party behind 3-D Secure answered badly, and this session is of no more use: make a new one with 'svc 3ds create'.",
    });
  }
}
