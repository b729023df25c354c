import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import type { Part } from '../run/part.ts';
import { partsByJob } from '../run/record.ts';
import { LEFT_OUT_ERRORS, type RunDirectory } from '../run/run-directory.ts';
import { JobErrors } from './job-errors.ts';

/** The rows of a run that were left out although their result in the job of another run is an error. */
export interface LeftOutErrors {
  /** The number of rows in the file. */
  readonly rows: number;
  /** The file with these rows as the request has them; undefined if there are none. */
  readonly file: string | undefined;
  /** Rows that are not in the file, because an error of their token may be that of another row. */
  readonly unclear: UnclearErrors;
  /** Parts with rows of the file whose jobs have other rows too, of which this machine knows nothing. */
  readonly partlyKnown: readonly Part[];
}

export interface UnclearErrors {
  readonly rows: number;
  /** How many of the rows have an error as their result, at most. */
  readonly errors: number;
  /** A part of each job that has them. */
  readonly parts: readonly Part[];
}

/**
 * Writes the left-out rows whose result is an error to `target`, or into the run's directory if another file has that name
 * or it cannot be written. Returns undefined if the results of these rows cannot be read.
 */
export async function writeLeftOutErrors(run: RunDirectory, target: string): Promise<LeftOutErrors | undefined> {
  try {
    return await writeTo(run, target, false);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    if (!isSvcError(error, 'usage', 'local')) throw error;
    return writeTo(run, path.join(run.path, LEFT_OUT_ERRORS), true);
  }
}

async function writeTo(run: RunDirectory, target: string, overwrite: boolean): Promise<LeftOutErrors | undefined> {
  let draft: Draft | undefined;
  let count = 0;
  const unclear = { rows: 0, errors: 0, parts: new Set<Part>() };
  const partlyKnown = new Set<Part>();
  try {
    for (const parts of partsByJob(run.record.parts.filter(isJoined))) {
      const errors = await JobErrors.of(run, parts);
      if (errors === undefined) return undefined;
      unclear.errors += errors.unclearErrors;
      for await (const rows of readRequest(errors.own.open())) {
        const doubted = rows.filter((row) => errors.kindOf(row) === 'unclear');
        unclear.rows += doubted.length;
        if (doubted.length > 0) unclear.parts.add(parts[0]);
        const wrong = rows.filter((row) => errors.kindOf(row) === 'error');
        if (wrong.length === 0) continue;
        if (errors.isPartlyKnown && wrong.some((row) => merchantOf(row) !== '')) partlyKnown.add(parts[0]);
        draft ??= await beginFile(target);
        count += wrong.length;
        await draft.write(wrong.map(({ line }) => `${line}\n`).join(''));
      }
    }
    const found = { rows: count, unclear: { ...unclear, parts: [...unclear.parts] }, partlyKnown: [...partlyKnown] };
    if (draft === undefined) return { ...found, file: undefined };
    const { sha256 } = await draft.seal();
    if ((await hashIfReadable(target)) !== sha256) await draft.finish(overwrite);
    return { ...found, file: target };
  } finally {
    await draft?.discard();
  }
}

async function beginFile(target: string): Promise<Draft> {
  const draft = await Draft.begin(target);
  await draft.write(`${REQUEST_HEADER}\n`);
  return draft;
}

/** Tells whether the results of rows that another run sent are on this machine. */
function isJoined({ joined, state }: Part): boolean {
  return joined !== undefined && state === 'downloaded';
}
