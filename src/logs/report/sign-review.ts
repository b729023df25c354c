// Records a signed review in the chain of an archive.

import { isDeepStrictEqual } from 'node:util';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { Clock } from '../../base/system.ts';
import { isoTime } from '../../cli/output/time.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { entriesOf, type Manifest, readManifest, type SignedReview } from '../archive/manifest.ts';
import { damaged, type Link, recordPath, type ReviewContent } from '../archive/records/record.ts';
import { ChainEnd } from '../archive/writer.ts';
import { missingOf, untilDay } from './review-rules.ts';

/** A recorded review. */
export interface Signed {
  readonly review: SignedReview;
  /** The hash of its record, which proves everything up to it; undefined if the same review was recorded before. */
  readonly hash: string | undefined;
  /** Earlier reviews of the same days, other than this one. */
  readonly earlier: readonly SignedReview[];
}

const MAX_ATTEMPTS = 20;
const PAUSE_MS = 200;

/**
 * Appends a review to the chain, and tries again when another writer takes its number. A review that is recorded already,
 * with the same person and note, is not recorded twice. The caller must have the store's lock.
 * @throws SvcError `conflict` if the archive has other entries of these days by now, or other writers are always faster
 */
export async function signReview(
  store: Store,
  review: ReviewContent,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Signed> {
  for (let attempt = 1; ; attempt += 1) {
    const manifest = await readManifest(store, { since: Date.parse(review.from), until: untilDay(review.to) });
    await requireSame(store, review, manifest);
    const same = manifest.reviews.find((other) => isSame(other, review));
    const earlier = manifest.reviews.filter((other) => other !== same && isAbout(other, review));
    if (same) return { review: same, hash: undefined, earlier };
    try {
      const { record, sha256 } = await append(store, review, manifest, clock);
      return { review: { ...review, number: record.sequence, written_at: record.written_at }, hash: sha256, earlier };
    } catch (error) {
      if (!isSvcError(error, 'conflict') || attempt === MAX_ATTEMPTS) throw error;
      await clock.sleep(PAUSE_MS * attempt * (0.5 + Math.random()), signal);
    }
  }
}

async function append(store: Store, review: ReviewContent, { last }: Manifest, clock: Clock): Promise<Link> {
  const end = new ChainEnd(store, last);
  const { read_to: readTo } = last.record.position;
  await end.appendReview({
    kind: 'segments',
    written_at: isoTime(clock.now()),
    segments: [],
    read_from: readTo,
    read_to: readTo,
    review,
  });
  return end.last;
}

/** @throws SvcError `conflict` if the archive says something else of the reviewed days by now, `checksum_mismatch` */
async function requireSame(store: Store, review: ReviewContent, manifest: Manifest): Promise<void> {
  const path = recordPath(review.record);
  if (sha256Of((await readText(store, path)) ?? '') !== review.record_sha256) throw damaged(path, 'it was changed');
  const isUnchanged = isDeepStrictEqual(missingOf(manifest.coverage, review), review.missing);
  if (isUnchanged && entriesOf(manifest, review) === review.entries) return;
  throw new SvcError('conflict', 'the archive has other entries of these days than were reviewed', {
    hint: 'Entries were archived or dropped meanwhile, and nothing was signed. Review them again.',
  });
}

function isAbout(one: ReviewContent, { of, from, to }: ReviewContent): boolean {
  return one.of === of && one.from === from && one.to === to;
}

/** Whether two reviews are of the same content, by the same person and with the same note. */
function isSame(one: ReviewContent, other: ReviewContent): boolean {
  return isAbout(one, other) && one.sha256 === other.sha256 && one.by === other.by && one.note === other.note;
}
