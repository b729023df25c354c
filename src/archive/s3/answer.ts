import { SvcError } from '../../errors.ts';
import type { Answer } from '../../http/exchange.ts';
import type { BucketPlace } from './place.ts';

const MAX_IGNORED = 64 * 1024;

/** Reads an answer in which nothing is of interest, so that its connection can serve again. */
export async function drain(answer: Answer): Promise<void> {
  await answer.readWhatComes(MAX_IGNORED);
}

/** Reads the whole body of a small answer. @throws SvcError `network`, `bad_answer` for one that is not small */
export async function wholeText(place: BucketPlace, answer: Answer, limit: number): Promise<string> {
  const { bytes, complete } = await answer.read(limit);
  if (complete) return bytes.toString('utf8');
  throw new SvcError('bad_answer', `${place.name}: the store's answer is larger than it should be`);
}
