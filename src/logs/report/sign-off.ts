// The options of a signature (`--sign-off`), and the recording of a signed review.

import { isNamed, operatorOf, operatorText } from '../../base/account.ts';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { flag, type Input, value } from '../../cli/app/parameter.ts';
import { isUnsafe } from '../../cli/output/text.ts';
import { utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { signerText } from '../archive/archive-text.ts';
import type { Manifest, SignedReview } from '../archive/manifest.ts';
import { openArchive } from '../archive/open-archive.ts';
import type { ReviewContent } from '../archive/records/record.ts';
import { workAlone } from '../work-alone.ts';
import { findingsText } from './findings.ts';
import type { Signed } from './sign-review.ts';

const MAX_CHARACTERS = 500;

export const SIGN_OFF_PARAMETERS = {
  signOff: flag('--sign-off', 'record in the archive that you reviewed this, when, and what you saw'),
  note: value('--note <text>', 'with --sign-off: a note to record, such as a ticket', recordable),
  by: value(
    '--by <name>',
    'with --sign-off: who reviewed (default: the name of the account, if it has one, and host)',
    recordable,
  ),
} as const;

export type SignOffInput = Input<typeof SIGN_OFF_PARAMETERS>;

/** Parses a text for a record, which can never be removed from the archive. */
function recordable(typed: string): string {
  if (typed.trim() === '') throw new SvcError('usage', 'must not be empty');
  if (typed.length > MAX_CHARACTERS)
    throw new SvcError('usage', `must not have more than ${MAX_CHARACTERS} characters`);
  if (isUnsafe(typed) || typed.includes('\t'))
    throw new SvcError('usage', 'must be one line without control characters');
  if (containsCardNumber(typed)) throw new SvcError('usage', 'must not contain a card number: it would stay for ever');
  return typed;
}

/**
 * `words` is the command without its options of a signature.
 * @throws SvcError `usage` for options that need `--sign-off`, and for a signature without a name
 */
export function checkSignOff({ system }: Context, { signOff, note, by }: SignOffInput, words: readonly string[]): void {
  if (signOff && by === undefined && !isNamed(system))
    throw new SvcError('usage', `this account (${operatorText(operatorOf(system))}) has no name to sign with`, {
      hint: 'Say who reviewed:',
      next: [...words, '--sign-off', '--by', '<name>', ...option('--note', note)],
    });
  if (signOff || (note === undefined && by === undefined)) return;
  throw new SvcError('usage', `${note === undefined ? '--by' : '--note'} is recorded with --sign-off only`, {
    hint: 'Add --sign-off.',
  });
}

/** What is signed: days, their findings, and the hash of the page, if one was written. */
type Reviewed = Pick<ReviewContent, 'of' | 'from' | 'to' | 'findings' | 'findings_entries' | 'sha256' | 'page_sha256'>;

/** Records a review in the archive that was reviewed, and says so. @throws SvcError as `signReview` and `workAlone` */
export async function signOff(
  context: Context,
  dir: string,
  reviewed: Reviewed,
  { manifest, note, by }: Pick<SignOffInput, 'note' | 'by'> & { readonly manifest: Manifest },
): Promise<Signed> {
  const [{ signReview }, { missingOf }, { entriesOf }] = await Promise.all([
    import('./sign-review.ts'),
    import('./review-rules.ts'),
    import('../archive/manifest.ts'),
  ]);
  const { of, from, to, findings, findings_entries, sha256, page_sha256 } = reviewed;
  const { record, sha256: recordHash } = manifest.last;
  const account = operatorText(operatorOf(context.system));
  const review: ReviewContent = {
    of,
    from,
    to,
    entries: entriesOf(manifest, reviewed),
    missing: missingOf(manifest.coverage, reviewed),
    findings,
    ...(findings_entries !== undefined && { findings_entries }),
    sha256,
    ...(page_sha256 !== undefined && { page_sha256 }),
    record: record.sequence,
    record_sha256: recordHash,
    by: by ?? account,
    account,
    ...(note !== undefined && { note }),
  };
  const store = await openArchive(context, dir, { writer: 'review' });
  const sign = (): Promise<Signed> => signReview(store, review, context);
  const signed = await workAlone((alone) => store.lock(alone), sign);
  reportSigned(context, signed);
  return signed;
}

function reportSigned({ notices }: Context, { review, hash, earlier }: Signed): void {
  const days = daysText(review);
  const { number } = review;
  for (const other of earlier) notices.note(`${days} was already signed off ${signatureText(other)}`);
  if (hash === undefined)
    return notices.note(`${days} was already signed off ${signatureText(review)}: nothing was recorded`);
  notices.success(`signed off ${days} by ${review.by} (record ${number}): ${findingsText(review)}`);
  if (review.missing.length > 0)
    notices.warn(
      `signed off although entries may be missing in ${countText(review.missing.length, 'range')}, as recorded`,
    );
  notices.note(`newest hash, to keep elsewhere as a proof: ${hash}`);
}

/** Returns the reviewed days in words. */
function daysText({ from, to }: Pick<ReviewContent, 'from' | 'to'>): string {
  return from === to ? from : `${from} to ${to}`;
}

/** Returns who signed a review, and when. */
export function signatureText({ by, account, note, written_at: at, number }: SignedReview): string {
  const words = note === undefined ? '' : `, note: ${note}`;
  return `by ${signerText({ by, account })} at ${utcTime(at)} (record ${number})${words}`;
}
