import path from 'node:path';
import type { UploadSource } from '../../client/transfer/source.ts';
import type { Part } from '../run/part.ts';
import { uploadedRows } from '../run/part-source.ts';
import { listRuns, type RunDirectory } from '../run/run-directory.ts';

/** Returns all rows of a job that another run of this machine sent; undefined if that run is not here. */
export async function rowsOfJob(run: RunDirectory, { job }: Part): Promise<UploadSource | undefined> {
  const { runs } = await listRuns(path.dirname(run.path));
  for (const other of runs) {
    const sent = other.record.parts.find((part) => part.job === job && part.joined === undefined);
    if (sent) return uploadedRows(sent, other);
  }
  return undefined;
}
