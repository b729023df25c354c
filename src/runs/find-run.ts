import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { RequestFileCheck } from '../csv/request-file.ts';
import type { SvcError } from '../errors.ts';
import { plannedParts, type RunRecord, statusOf } from './record.ts';
import { RunDirectory } from './run-directory.ts';
import { listRuns } from './run-list.ts';

/** What a run is begun with. */
export interface NewRun {
  readonly profile: string;
  /** Where its jobs are; a run is never continued at another service. */
  readonly baseUrl: string;
  readonly name: string;
  /** Undefined for standard input. */
  readonly path: string | undefined;
  readonly check: RequestFileCheck;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The newest run of this very file with this profile, if there is one. */
export function findRun(
  root: string,
  file: NewRun,
  onDamaged?: (error: SvcError) => void,
): RunDirectory | undefined {
  // Another profile may be another tenant at the same address.
  return listRuns(root, onDamaged).find(
    ({ record }) => record.profile === file.profile && isOf(record, file),
  );
}

/** The newest open run of what was in this file before, if there is one. */
export function findOutdated(root: string, file: NewRun): RunDirectory | undefined {
  return listRuns(root).find(
    ({ record }) =>
      file.path !== undefined &&
      record.input.path === path.resolve(file.path) &&
      record.profile === file.profile &&
      !isOf(record, file) &&
      statusOf(record) === 'open',
  );
}

/** Whether a run is of this very file at this service. */
export function isOf({ base_url, input }: RunRecord, file: Pick<NewRun, 'baseUrl' | 'check'>): boolean {
  return base_url === file.baseUrl && input.sha256 === file.check.sha256 && input.bytes === file.check.bytes;
}

/** Begins a run: on disk, with every part planned, before the first request. */
export function beginRun(directory: (id: string) => string, file: NewRun): RunDirectory {
  const { check } = file;
  const day = new Date(file.now).toISOString().slice(0, 10).replaceAll('-', '');
  const id = `run-${day}-${check.sha256.slice(0, 8)}-${randomBytes(2).toString('hex')}`;
  return RunDirectory.create(directory(id), {
    version: 1,
    id,
    created_at: new Date(file.now).toISOString(),
    profile: file.profile,
    base_url: file.baseUrl,
    input: {
      name: file.name,
      ...(file.path === undefined ? {} : { path: path.resolve(file.path) }),
      rows: check.rows,
      bytes: check.bytes,
      sha256: check.sha256,
      header_bytes: check.headerBytes,
    },
    parts: plannedParts(check),
  });
}
