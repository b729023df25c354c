import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { runsRoot } from '../run/recorded-runs.ts';
import { findRequests } from './cycle-request.ts';
import { type RefreshDirectory, type Refreshed, runHere } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { notedTenant } from './refresh-tenant.ts';

/**
 * Goes on with a cycle whose runs are not all on this machine: the ledger knows what they sent. Jobs that it does not know stop
 * the upload then, because it may be of an older day.
 * @throws SvcError `outcome_unknown` for a run that the ledger does not know either
 */
export async function withLostRuns(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
): Promise<RefreshInput> {
  const ledger = new CommandLedger(context, { onlyReads: true });
  // Machines that share a ledger stop for unknown jobs anyway.
  if (ledger.isShared) return input;
  const tenant = notedTenant(directory);
  let isAnyLost = false;
  for (const [place, request] of directory.requests.entries()) {
    const { run, request_sha256: sha256 } = request;
    if (run === undefined || (await runHere(context, run)) !== undefined) continue;
    isAnyLost = true;
    const [file] = (await findRequests(context, directory, [place])) ?? [];
    const isKnown = tenant !== undefined && (await ledger.hasClaimed(tenant, directory.cycle, sha256, file));
    if (!isKnown) throw forgottenRun(context, directory, request);
  }
  return isAnyLost ? { ...input, onlyRecorded: true } : input;
}

function forgottenRun(context: Context, { record, path: directory }: RefreshDirectory, { run }: Refreshed): SvcError {
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: ${record} names ${run}, which neither ${runsRoot(context)} nor the ledger has; nothing was submitted`,
    {
      hint: `The rows of that run may have been submitted already. Restore the state directory that has it, or name it with SVC_STATE_DIR. If it is lost, see which jobs the service has; only if you accept that rows are billed again, move ${directory} away and run the same command.`,
      next: ['au', 'jobs'],
      retryable: false,
      facts: { file: record, run },
    },
  );
}
