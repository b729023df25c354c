import type { UploadSource } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import type { Part } from '../run/part.ts';
import { uploadedRows } from '../run/part-source.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import type { Rereadable } from './reconcile.ts';

/** Returns the rows of some parts of a run. Undefined if those of one are no longer readable. */
export async function rowsOfParts(run: RunDirectory, parts: readonly Part[]): Promise<Rereadable | undefined> {
  const sources: UploadSource[] = [];
  for (const part of parts) {
    const source = await uploadedRows(part, run);
    if (source === undefined) return undefined;
    sources.push(source);
  }
  if (sources.length === 1) return sources[0];
  return {
    async *open() {
      yield Buffer.from(`${REQUEST_HEADER}\n`);
      for (const source of sources)
        for await (const rows of readRequest(source.open()))
          yield Buffer.from(rows.map(({ line }) => `${line}\n`).join(''));
    },
  };
}
