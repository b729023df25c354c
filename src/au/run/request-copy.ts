import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { checkRequestFile } from '../request/check-request-file.ts';
import { openOverflowFile } from '../request/overflow-file.ts';
import { spoolRows } from '../request/spool-rows.ts';
import { withoutLines } from '../request/without-lines.ts';
import { spoolFile } from '../request/spool.ts';
import type { RunDirectory } from './run-directory.ts';

type CopyOfRun = Pick<RunDirectory, 'record' | 'requestFile'>;

interface Found {
  /** The path of the rows, which may be a private file. */
  readonly file: string;
  /** The name of the file that is read instead of a damaged copy. */
  readonly instead?: string | undefined;
}

/**
 * Finds the rows of a run: its copy of the request file or, if that is damaged, the submitted file if it has the recorded
 * hash. Returns undefined if neither has, or if the run has no copy.
 */
export async function findRequest(
  context: Context,
  { record: { input }, requestFile }: CopyOfRun,
): Promise<Found | undefined> {
  if (requestFile === undefined) return undefined;
  if ((await hashIfReadable(requestFile)) === input.sha256) return { file: requestFile };
  if (input.path === undefined) return undefined;
  const sha256 = await hashIfReadable(input.path);
  if (sha256 === input.sha256) return { file: input.path, instead: input.path };
  if (sha256 === undefined || sha256 !== input.submitted_sha256) return undefined;
  // The copy does not contain the rows that the submitted file repeats.
  const rows = await withoutRepeated(context, input.path);
  return rows.check.sha256 === input.sha256 ? { file: rows.path, instead: input.path } : undefined;
}

async function withoutRepeated(context: Context, file: string) {
  const source = await fileSource(file);
  const { duplicates } = await checkRequestFile(source.open(), { openOverflow: () => openOverflowFile(context) });
  return spoolRows(context, withoutLines(source.open(), duplicates.lines));
}

/** Finds the rows of a run, and warns if its copy is damaged and another file is read. */
export async function readableRequest(context: Context, run: CopyOfRun): Promise<string | undefined> {
  const { file, instead } = (await findRequest(context, run)) ?? {};
  if (instead !== undefined)
    context.notices.warn(
      `the copy ${run.requestFile} is damaged; ${instead}, which has the recorded hash, is read instead`,
    );
  return file;
}

/**
 * Replaces a damaged copy if the submitted file still has the recorded hash, and otherwise leaves it. The caller must
 * have locked the run.
 */
export async function repairCopy(context: Context, run: RunDirectory): Promise<void> {
  const { file, instead } = (await findRequest(context, run)) ?? {};
  if (file === undefined || instead === undefined) return;
  const copy = await spoolFile(context.system, file);
  context.onClose(() => copy.remove());
  run.replaceRequest(copy.path);
  context.notices.warn(
    `the copy ${run.requestFile} was damaged; it was replaced from ${instead}, which has the recorded hash`,
  );
}

/** Returns the error for a damaged copy whose rows were found in no other file. */
export function damagedCopy({
  record: { id },
  requestFile,
  submitWords,
}: CopyOfRun & Pick<RunDirectory, 'submitWords'>): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `${requestFile}, the copy of the request file that ${id} keeps, is damaged; nothing was sent`,
    {
      hint: 'Submit the same file again: the run takes another copy of it and continues.',
      next: submitWords,
      facts: { run: id, file: requestFile },
    },
  );
}
