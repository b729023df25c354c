import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/time.ts';
import { requestToUpload } from './part-source.ts';
import type { Part } from './part.ts';
import { hasUnknown, needsFile } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { requireRestIsNew } from './rest-is-new.ts';
import { everyRecord } from './run-view.ts';
import { showRun } from './show-progress.ts';
import { retryFailed, uploadParts } from './upload-parts.ts';

interface UploadChoice {
  /** Whether failed parts get another job, as the operator decided. */
  readonly retriesFailed?: boolean | undefined;
  /** Whether the rows were compared with the other runs of the cycle after the run was locked. */
  readonly isCompared?: boolean | undefined;
  /** Whether to poll an upload in doubt only once, without waiting for its end. */
  readonly pollOnce?: boolean | undefined;
}

/** Returns the parts that must be uploaded or whose upload is in doubt. */
export function partsToUpload(parts: readonly Part[], { retriesFailed = false }: UploadChoice = {}): Part[] {
  return parts.filter(
    (part) =>
      needsFile({ parts: [part] }) || hasUnknown({ parts: [part] }) || (retriesFailed && part.state === 'failed'),
  );
}

/** Asks for confirmation before billable rows are sent. */
export async function confirmRows(context: Context, rows: number, jobs: number): Promise<boolean> {
  const { confirmCost } = await import('../../cli/app/tenant-mark.ts');
  return confirmCost(context, `submit ${countText(rows, 'row')} in ${countText(jobs, 'job')}`);
}

/**
 * Uploads the remaining parts of a run from the copy of its request file. The caller must have locked the run.
 * @throws SvcError `outcome_unknown` if the service may have the file of a part without having confirmed it, `conflict`
 *   if another run of the cycle contains the rows
 */
export async function uploadRun(context: Context, run: RunDirectory, choice: UploadChoice = {}): Promise<void> {
  if (partsToUpload(run.record.parts, choice).length === 0) return;
  const client = await context.client();
  if (!choice.isCompared) await requireRestIsNew(context, client, run, choice.retriesFailed);
  if (choice.retriesFailed) await retryFailed(client, run);
  const onEvent = showRun(context, run.record);
  const how = { onEvent, pollOnce: choice.pollOnce, others: await everyRecord(context) };
  await uploadParts(client, run, await requestToUpload(run), how);
}
