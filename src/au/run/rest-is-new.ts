import fs from 'node:fs';
import path from 'node:path';
import { withLock } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { requireComparable, requireNew } from './cycle-conflict.ts';
import { CycleRows, partsToSend } from './cycle-rows.ts';
import { requestToUpload } from './part-source.ts';
import type { RunRecord } from './record.ts';
import { knownRunsRoot } from './recorded-runs.ts';
import type { RunDirectory } from './run-directory.ts';
import { BEGIN_LOCK, runsOfCycle } from './run-index.ts';
import { TenantProof, type TenantRelation } from './tenant-proof.ts';

/**
 * Checks that no other run of the cycle contains rows that a run has yet to upload. Another file with these rows may
 * have been submitted since the upload was interrupted. The caller must have locked the run, so that other processes
 * count its unsent rows.
 * @throws SvcError `conflict` if another run contains some of the rows
 */
export async function requireRestIsNew(
  context: Context,
  client: Client,
  run: RunDirectory,
  retries = false,
): Promise<void> {
  const { id, cycle, base_url: baseUrl, repeats } = run.record;
  const ranges = partsToSend(run.record, { retries });
  const root = knownRunsRoot(context);
  if (cycle === undefined || ranges.length === 0 || root === undefined || !fs.existsSync(root)) return;
  const file = await requestToUpload(run);
  const proof = new TenantProof(client);
  const rows = new CycleRows(context.system, { file, ranges }, (record) => relationOf(record, run.record, proof));
  try {
    await withLock(path.join(root, BEGIN_LOCK), context.system, async () => {
      const { runs, unreadable } = await runsOfCycle(root, { cycle, base_url: baseUrl });
      const others = runs.filter(({ record }) => record.id !== id);
      await rows.compare({ runs: others, unreadable }, repeats);
    });
  } finally {
    rows.close();
  }
  const sending = {
    cycle,
    name: run.record.input.name,
    words: run.submitWords,
    resumed: run,
    now: context.clock.now(),
  };
  requireComparable(rows, sending);
  requireNew(rows, sending);
}

async function relationOf(record: RunRecord, own: RunRecord, proof: TenantProof): Promise<TenantRelation> {
  if (record.tenant_id !== undefined && own.tenant_id !== undefined)
    return record.tenant_id === own.tenant_id ? 'same' : 'other';
  const relation = await proof.relationOf(record);
  const isHere = record.profile === own.profile && record.base_url === own.base_url;
  return relation === 'unknown' && isHere ? 'same' : relation;
}
