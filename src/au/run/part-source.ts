import { isSvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import type { RunPart, RunRecord } from './record.ts';

/** Opens the slice of `file` that a part uploads, header included. */
export async function partSource(part: RunPart, record: RunRecord, file: string): Promise<UploadSource> {
  const { parts, input } = record;
  const { sha256, start, end } = part;
  const isWhole = parts.length === 1;
  return fileSource(file, {
    sha256,
    start: isWhole ? 0 : start,
    // The last part is read to the present end of the file, so that one that grew is noticed.
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
 * Opens the rows that a part uploaded, to compare its results with them. Returns undefined when they cannot be read
 * again: the request came through a pipe, or its file is gone or has changed.
 */
export async function uploadedRows(
  part: RunPart,
  record: RunRecord,
  file = record.input.path,
): Promise<UploadSource | undefined> {
  if (file === undefined) return undefined;
  try {
    const source = await partSource(part, record, file);
    return (await sha256OfAll(source.open())) === part.sha256 ? source : undefined;
  } catch (error) {
    if (isSvcError(error, 'local')) return undefined;
    throw error;
  }
}
