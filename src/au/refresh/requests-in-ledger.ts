import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { tenantOfSandbox } from '../job/tenant-of-key.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { findRequests } from './cycle-request.ts';
import type { RefreshDirectory, Refreshed } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { notedTenant, requireTenant } from './refresh-tenant.ts';

/**
 * Checks that the ledger of this machine knows the requests of a cycle that were submitted: a state directory may be lost, or be
 * of an older day. Jobs that the ledger does not know then stop the upload. Machines that share a ledger stop for them anyway.
 * @throws SvcError `outcome_unknown` for a request of which the ledger knows nothing, `config` after a reset of the sandbox
 */
export async function requireInLedger(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
): Promise<RefreshInput> {
  const ledger = new CommandLedger(context, { onlyReads: true });
  const submitted = [...directory.requests.entries()].filter(([, request]) => request.submitted);
  if (ledger.isShared || submitted.length === 0) return input;
  const tenant = notedTenant(directory);
  for (const [place, request] of submitted) {
    const [file] = (await findRequests(context, directory, [place])) ?? [];
    const isKnown =
      tenant !== undefined && (await ledger.hasClaimed(tenant, directory.cycle, request.request_sha256, file));
    if (isKnown) continue;
    // A reset of the sandbox deletes its ledger, too.
    const now = serviceOf(context) === 'sandbox' ? await tenantOfSandbox(await context.client()) : undefined;
    if (now !== undefined) await requireTenant(context, directory, now, input.again);
    throw notInLedger(directory, directory.filesOf(place).request, request);
  }
  return { ...input, onlyRecorded: true };
}

function notInLedger({ record, path: directory }: RefreshDirectory, name: string, { rows }: Refreshed): SvcError {
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: ${record} says that ${name} was submitted, and the ledger has none of its ${rows} rows; nothing was submitted now`,
    {
      hint: `Restore the state directory that has the ledger, or name it with SVC_STATE_DIR. If it is lost, see which jobs the service has; only if you accept that rows are billed again, move ${directory} away and run the same command.`,
      next: ['au', 'jobs'],
      retryable: false,
      facts: { file: record, request: name },
    },
  );
}
