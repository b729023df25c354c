import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/time.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { FileSubmission } from '../jobs/submit-file.ts';
import type { Export } from './export.ts';
import { prepareAside } from './prepare-aside.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { requireTenant } from './refresh-tenant.ts';
import { submissionOf } from './request-steps.ts';

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
  const isSame = directory.requests.some((request) => request.export_sha256 === exported?.sha256);
  const change = isSame ? `${typed} is read with other options than before` : `${typed} has changed`;
  if (rows === undefined) {
    context.notices.note(`${change}; without a tenant it is not known how many of its rows are new`);
    return undefined;
  }
  const are = rows === 1 ? 'is' : 'are';
  context.notices.note(
    rows === 0
      ? `${change}, and cycle ${input.cycle} has all of its rows${isSame ? ': its files stay as they are' : ''}`
      : `${countText(rows, 'row')} of ${typed} ${are} new in cycle ${input.cycle}: --add submits ${rows === 1 ? 'it' : 'them'}`,
  );
  return rows;
}
