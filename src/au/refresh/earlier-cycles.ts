import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { Exclusions } from '../request/exclusions.ts';
import { everyRun, isOfProfile } from '../run/recorded-runs.ts';
import type { RunRecord } from '../run/record.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { EXCLUSIONS, RECORD, type RefreshDirectory } from './refresh-directory.ts';
import { inDirectory } from './refresh-input.ts';

/**
 * Checks that a directory without cycles does not stand in for the one that has the earlier cycles and their list of
 * exclusions: a volume may not be mounted, or the command may run in another working directory.
 * @throws SvcError `config`
 */
export async function requireNoEarlierCycles(
  context: Context,
  directory: RefreshDirectory,
  again: readonly string[],
): Promise<void> {
  // Nothing is billed in a sandbox.
  if (serviceOf(context) === 'sandbox') return;
  const here = directory.resolve(directory.parent);
  const { runs } = await everyRun(context);
  const own = runs.filter(({ record }) => isOfProfile(context, record) && record.cycle !== directory.cycle);
  let tenant: Promise<string | undefined> | undefined;
  for (const { record } of own) {
    const place = placeOf(record);
    if (place === undefined || !(await mayHaveList(place, here))) continue;
    tenant ??= tenantIfShown(context);
    // The list of another tenant leaves out no token of this one.
    if (isOfOther(record, await tenant)) continue;
    throw listElsewhere(directory, place, again);
  }
}

function isOfOther({ tenant_id: recorded }: RunRecord, tenant: string | undefined): boolean {
  return recorded !== undefined && tenant !== undefined && recorded !== tenant;
}

/** Returns the tenant of the key; undefined without a key, or if the service does not say. */
async function tenantIfShown(context: Context): Promise<string | undefined> {
  try {
    return await tenantOfKey(await context.client());
  } catch (error) {
    if (context.signal.aborted || !isSvcError(error)) throw error;
    return undefined;
  }
}

function listElsewhere(directory: RefreshDirectory, { parent, record }: Place, again: readonly string[]): SvcError {
  const list = directory.exclusions;
  const isThere = fs.existsSync(record);
  const message = isThere
    ? `${list} does not exist, and the earlier cycles of this machine are in ${parent}`
    : `${list} does not exist, and the earlier cycles of this machine are no longer in ${parent}`;
  const hint = isThere
    ? 'Go on in that directory: its list leaves out closed accounts, which are billed otherwise. Only if no row is to be left out, run the last of these commands.'
    : 'If it is on a volume, mount it and run the command again: its list leaves out closed accounts, which are billed otherwise. Only if no row is to be left out, run the last of these commands.';
  return new SvcError('config', message, {
    hint,
    next: parent === directory.resolve(directory.parent) ? again : inDirectory(again, parent),
    alternatives: [[...again, '--exclusions', 'none']],
    facts: { directory: parent },
  });
}

/** The directory of all cycles in which a refresh made the request of a run, and the record of its cycle there. */
interface Place {
  readonly parent: string;
  readonly record: string;
}

function placeOf({ cycle, input, parts }: RunRecord): Place | undefined {
  // Only results add to the list.
  if (input.path === undefined || !parts.some(({ state }) => state === 'downloaded')) return undefined;
  const directory = path.dirname(input.path);
  if (path.basename(directory) !== cycle || !/^request(?:-\d+)?\.csv$/.test(path.basename(input.path)))
    return undefined;
  return { parent: path.dirname(directory), record: path.join(directory, RECORD) };
}

/** Tells whether a place has tokens on its list of exclusions, or is gone, so that it may have had some. */
async function mayHaveList({ parent, record }: Place, here: string): Promise<boolean> {
  if (!fs.existsSync(record)) return true;
  const list = path.join(parent, EXCLUSIONS);
  return parent !== here && fs.existsSync(list) && (await Exclusions.open(list)).tokens > 0;
}
