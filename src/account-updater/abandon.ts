import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import { needsFile } from './advance.ts';
import { type RunPart, type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { settleUpload } from './upload-part.ts';

/** What a run has at the service: parts and their rows. */
export interface AtService {
  /** Parts that have a job with their file, or may have: they are processed, and may be paid for. */
  readonly uploaded: readonly RunPart[];
  readonly uploadedRows: number;
  /** Parts that the service has no file of: they cost nothing. */
  readonly notUploaded: readonly RunPart[];
}

/** What the service has of a run, as it is recorded. */
export function atService({ parts }: Pick<RunRecord, 'parts'>): AtService {
  const uploaded = parts.filter((part) => part.state === 'uploading' || !needsFile({ parts: [part] }));
  return {
    uploaded,
    uploadedRows: uploaded.reduce((sum, { rows }) => sum + rows, 0),
    notUploaded: parts.filter((part) => !uploaded.includes(part)),
  };
}

/** Gives a run up: `svc au sync` passes it over from now on. Its jobs are left alone. `now` in epoch milliseconds. */
export function abandon(run: RunDirectory, now: number): void {
  run.record.abandoned_at ??= new Date(now).toISOString();
  run.save();
}

/** Takes an abandoned run up again. */
export function undoAbandon(run: RunDirectory): void {
  delete run.record.abandoned_at;
  run.save();
}

/** An abandoned run is not gone on with unasked: its rows may have been paid for. @throws SvcError `usage` */
export function requireKept({ record, name, submitCommand }: RunDirectory): void {
  if (statusOf(record) !== 'abandoned') return;
  throw new SvcError('usage', `this file was submitted as ${record.id}, which was abandoned`, {
    hint: `Take it up again with 'svc au abandon ${name} --undo', or begin another run with '${submitCommand} --again'; rows that were uploaded may then be paid for twice.`,
    facts: { run: record.id, abandoned_at: record.abandoned_at },
  });
}

/** Finds out of every part whose upload was cut off whether its job has the file, so that its results can be had. */
export async function settleUploads(client: Client, run: RunDirectory): Promise<void> {
  for (const part of run.record.parts)
    if (part.state === 'uploading')
      await settleUpload({ client, record: run.record, part, save: () => run.save() }, 0);
}
