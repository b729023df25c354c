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
  /** Failed parts get another job: the operator said so. */
  readonly retriesFailed?: boolean | undefined;
  /** The rows were compared with the other runs of the cycle when the run was held. */
  readonly isCompared?: boolean | undefined;
  /** An upload in doubt is looked at once, and not waited for. */
  readonly pollOnce?: boolean | undefined;
}

/** The parts of a run that are to be uploaded, or of which it is to be found out whether they were. */
export function partsToUpload(parts: readonly Part[], { retriesFailed = false }: UploadChoice = {}): Part[] {
  return parts.filter(
    (part) =>
      needsFile({ parts: [part] }) || hasUnknown({ parts: [part] }) || (retriesFailed && part.state === 'failed'),
  );
}

/** Asks before rows are sent that are paid for. */
export async function confirmRows(context: Context, rows: number, jobs: number): Promise<boolean> {
  const { confirmCost } = await import('../../cli/app/tenant-mark.ts');
  return confirmCost(context, `submit ${countText(rows, 'row')} in ${countText(jobs, 'job')}`);
}

/**
 * Uploads what is left of a run from the copy of its request file. The caller must hold the run.
 * @throws SvcError `outcome_unknown` when the service may have the file of a part, and nothing says so, `conflict` when
 *   another run of the cycle has the rows
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
