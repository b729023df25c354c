import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { knownTenant } from '../../cli/config/cache.ts';
import { fixedPercent } from '../../cli/output/time.ts';
import { CycleRows } from './cycle-rows.ts';
import type { Choice } from './find-run.ts';
import { isUntouched, type RunRecord } from './record.ts';
import { everyRun } from './recorded-runs.ts';
import type { RunDirectory } from './run-directory.ts';
import { tenantOf, tenantText } from './run-view.ts';

/**
 * The smallest share of rows that the file must have in common with the last cycle. Below it, the file is treated as
 * unrelated.
 */
const LEAST_SHARE = 0.1;

/**
 * Reports the tenant before the first upload of a cycle. Warns if the file has little in common with the last cycle,
 * because the export or the profile may be wrong.
 */
export async function reportFirstOfCycle(context: Context, cycle: string, choice: Choice): Promise<void> {
  const { run, file, rows } = choice;
  const isFirst = (run === undefined || isUntouched(run.record)) && (rows?.others ?? []).length === 0;
  if (!isFirst) return;
  const { notices, settings, system } = context;
  const last = await lastCycle(context, cycle);
  const profile = settings.profile.value;
  // The tenant is known from the last check of this profile or from the jobs of the last cycle.
  const known = knownTenant(system, profile, serviceOf(context));
  const tenant = known ? tenantText(known) : last[0] && tenantOf(context, last[0].record);
  notices.note(`first upload of cycle ${cycle}: profile ${profile}${tenant === undefined ? '' : `, tenant ${tenant}`}`);
  if (last.length === 0) return;
  const compared = new CycleRows(system, { file: file.path, ranges: file.check.parts }, async () => 'same');
  context.onClose(async () => compared.close());
  await compared.compare({ runs: last, unreadable: [] });
  const { rows: all, left } = compared.counts;
  const share = (all - left) / all;
  if (compared.incomparable !== undefined || share >= LEAST_SHARE) return;
  const found = `${fixedPercent(share)} of the rows of ${file.name} were in cycle ${last[0]?.record.cycle ?? ''}`;
  notices.warn(`only ${found}, the last of this profile: is the profile wrong, or the export?`);
}

/** Returns the runs of the last cycle that this profile submitted before `cycle`, newest first. */
async function lastCycle(context: Context, cycle: string): Promise<RunDirectory[]> {
  const { runs } = await everyRun(context);
  const earlier = runs.filter(
    ({ record }) => record.cycle !== cycle && isHere(context, record) && !isUntouched(record),
  );
  const last = earlier.find(({ record }) => record.cycle !== undefined)?.record.cycle;
  return last === undefined ? [] : earlier.filter(({ record }) => record.cycle === last);
}

function isHere(context: Context, { profile, base_url: address }: RunRecord): boolean {
  return profile === context.settings.profile.value && address === serviceOf(context);
}
