import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isoTime } from '../../cli/output/time.ts';
import type { Division } from '../ledger/divide-rows.ts';
import { byText } from '../ledger/claims.ts';
import { provableFrom, provableUntil } from '../ledger/proof-of-absence.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { joinedPart, type Part } from '../run/part.ts';
import { plannedParts, type RunRecord } from '../run/record.ts';
import { RunDirectory } from '../run/run-directory.ts';

/** What a new run submits. */
export interface NewRun {
  readonly profile: string;
  readonly baseUrl: string;
  readonly name: string;
  /** The path of the file; undefined for standard input. */
  readonly path: string | undefined;
  /** The check of what is submitted: the file without the rows that it repeats. */
  readonly check: RequestFileCheck;
  /** The check of the file as the operator has it, which identifies the run. */
  readonly submitted: Pick<RequestFileCheck, 'sha256' | 'bytes' | 'rows'>;
  /** The checked copy of the file, which becomes the run's copy. */
  readonly copy: string;
  /** The operator's name for this refresh of the file. */
  readonly cycle: string | undefined;
  readonly tenant: string;
  /** The rows that other jobs have; undefined if all are free. */
  readonly division: Division | undefined;
  /** The time when the run begins, in milliseconds since the epoch. */
  readonly now: number;
}

/** Creates a run on disk, with all parts planned, before the first request for a job. */
export function beginRun(root: string, file: NewRun): RunDirectory {
  const { check, submitted, division } = file;
  const day = new Date(file.now).toISOString().slice(0, 10).replaceAll('-', '');
  const id = `run-${day}-${submitted.sha256.slice(0, 8)}-${randomBytes(2).toString('hex')}`;
  const { parts, files } =
    division === undefined ? { parts: plannedParts(check), files: undefined } : dividedParts(division, 1);
  const record: RunRecord = {
    version: 2,
    id,
    created_at: isoTime(file.now),
    profile: file.profile,
    base_url: file.baseUrl,
    tenant_id: file.tenant,
    ...(file.cycle === undefined ? {} : { cycle: file.cycle }),
    input: {
      name: file.name,
      ...(file.path === undefined ? {} : { path: path.resolve(file.path) }),
      rows: check.rows,
      bytes: check.bytes,
      sha256: check.sha256,
      header_bytes: check.headerBytes,
      ...(submitted.sha256 === check.sha256 ? {} : { submitted_sha256: submitted.sha256 }),
    },
    parts,
  };
  return RunDirectory.create(path.join(root, id), record, file.copy, files);
}

/** Parts of divided rows, and the files with these rows by their names in the run's directory. */
export interface DividedParts {
  readonly parts: readonly Part[];
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Returns the parts of divided rows, with numbers from `first` on: those that other jobs have, then those to send.
 */
export function dividedParts({ joined, free }: Division, first: number): DividedParts {
  const parts: Part[] = [];
  const files = new Map<string, string>();
  const rowsFile = (file: string): { readonly number: number; readonly name: string } => {
    const number = first + parts.length;
    const name = `rows-${String(number).padStart(4, '0')}.csv`;
    files.set(name, file);
    return { number, name };
  };
  for (const { claim, status, isDone, file } of joined) {
    const { number, name } = rowsFile(file.path);
    const provable = provableFrom(claim);
    const joinedJob = {
      rows: claim.rows,
      by: byText(claim),
      ...(claim.keys === 2 && { tokens_once: true as const }),
      ...(isDone && { delivered: true as const }),
      ...(provable !== undefined && { provable_at: isoTime(provable), provable_until: isoTime(provableUntil(claim)) }),
    };
    // A claim has at most what one job takes, so that its rows are one slice.
    for (const slice of plannedParts(file.check, number, name))
      parts.push(joinedPart({ ...slice, joined: joinedJob }, claim.job, status !== undefined || isDone));
  }
  for (const { path: rows, check } of free) {
    const { number, name } = rowsFile(rows);
    parts.push(...plannedParts(check, number, name));
  }
  return { parts, files };
}
