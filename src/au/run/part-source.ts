import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import type { Context } from '../../cli/app/command.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import type { Part } from './part.ts';
import { damagedCopy, findRequest } from './request-copy.ts';
import type { RunDirectory } from './run-directory.ts';

/**
 * Returns the path of the file that contains the parts of a run: its copy, or the original file if the copy is damaged.
 * @throws SvcError `checksum_mismatch` for a damaged copy, `local` without one
 */
export async function requestToUpload(context: Context, run: RunDirectory): Promise<string> {
  const found = await findRequest(context, run);
  if (found !== undefined) return found.file;
  if (run.requestFile !== undefined) throw damagedCopy(run);
  const { record, name, submitWords } = run;
  throw new SvcError('local', `run ${record.id} has parts to upload, and no copy of its request file`, {
    hint: 'Submit the same file again, which resumes the run, or abandon the run:',
    next: submitWords,
    alternatives: [['au', 'abandon', name]],
  });
}

/**
 * Opens the rows of a part, header included. `file` has the rows of the run's request, and `directory` is that of the
 * run, which has the rows of parts that were divided.
 */
export async function partSource(
  part: Part,
  { record, path: directory }: Pick<RunDirectory, 'record' | 'path'>,
  file: string,
): Promise<UploadSource> {
  const { parts, input } = record;
  const { sha256, start, end, rows_file: rowsFile } = part;
  if (rowsFile !== undefined)
    return fileSource(path.join(directory, rowsFile), {
      sha256,
      start,
      end,
      prefix: Buffer.from(`${REQUEST_HEADER}\n`),
    });
  const isWhole = parts.length === 1;
  return fileSource(file, {
    sha256,
    start: isWhole ? 0 : start,
    // The last part is read up to the current end of the file, so that growth is noticed.
    end: end === input.bytes ? undefined : end,
    prefix: isWhole ? undefined : await headerOf(file, input.header_bytes),
  });
}

async function headerOf(file: string, bytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const source = await fileSource(file, { end: bytes });
  for await (const chunk of source.open()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * Opens the rows that a part uploaded, to compare results with them. Returns undefined if they are no longer readable:
 * the copy may be damaged or pruned, and the file may have come through a pipe, be gone or have changed. `request` is the file to read instead of a damaged copy.
 */
export async function uploadedRows(
  part: Part,
  run: Pick<RunDirectory, 'record' | 'requestFile' | 'path'>,
  request = run.requestFile,
): Promise<UploadSource | undefined> {
  const file = request ?? run.record.input.path;
  if (file === undefined) return undefined;
  try {
    const source = await partSource(part, run, file);
    return (await sha256OfAll(source.open())) === part.sha256 ? source : undefined;
  } catch (error) {
    if (isSvcError(error, 'local')) return undefined;
    throw error;
  }
}
