import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/time.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { openSpool } from '../request/spool-output.ts';
import { FileSubmission } from '../send/submit-file.ts';
import { exclusionsFor } from './exclusion-list.ts';
import { type Export, wordsOf } from './prepare-step.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { requireTenant } from './refresh-tenant.ts';
import { submissionOf } from './request-steps.ts';

/** Makes the request of an export in a private file that is removed at the end of the command. Returns its path. */
export async function prepareAside(
  context: Context,
  directory: RefreshDirectory,
  typed: string,
  exported: Export | undefined,
  input: RefreshInput,
): Promise<string> {
  const path = await openSpool(context);
  await prepareExport(context, typed, {
    how: input.how,
    maxRejects: input.maxRejects,
    exclusions: (await exclusionsFor(context, directory, input)).list,
    names: { request: path, rejects: input.maxRejects && (await openSpool(context)) },
    path: exported?.path,
    force: true,
    words: wordsOf(typed, input.cycle),
  });
  return path;
}

/**
 * Says how many rows of a changed export its cycle does not have, and how to send them. Without the operator's word they are
 * not sent, because an export that changes every few hours would begin a job each time.
 */
export async function reportNewRows(
  context: Context,
  directory: RefreshDirectory,
  exported: Export | undefined,
  input: RefreshInput,
  dryRun = false,
): Promise<number | undefined> {
  const { export: typed = '' } = input;
  const path = await prepareAside(context, directory, typed, exported, input);
  const file = await openRequestFile(context, typed, path);
  const checkTenant = (tenant: string): Promise<void> => requireTenant(context, directory, tenant, input.again);
  const submitting = { ...submissionOf(typed, input, { dryRun }), checkTenant };
  const rows = await new FileSubmission(context, file, submitting).countNewRows();
  if (rows === undefined) {
    context.notices.note(`${typed} has changed; without a tenant it is not known how many of its rows are new`);
    return undefined;
  }
  const are = rows === 1 ? 'is' : 'are';
  context.notices.note(
    rows === 0
      ? `${typed} has changed, and cycle ${input.cycle} has all of its rows`
      : `${countText(rows, 'row')} of ${typed} ${are} new in cycle ${input.cycle}: --add submits ${rows === 1 ? 'it' : 'them'}`,
  );
  return rows;
}
