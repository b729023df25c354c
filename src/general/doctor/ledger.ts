import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { Ledger } from '../../au/ledger/ledger.ts';
import {
  folderOfTenant,
  isSamePlace,
  openCopies,
  openLedgerStore,
  requireSameLedger,
  sharedLedgersUsed,
  type UsedLedger,
} from '../../au/ledger/place.ts';
import { PlannedObjects, requireNotEmpty, tryPlace } from '../../au/ledger/objects.ts';
import { folderOf } from '../../base/files/names.ts';
import { tenantOfKey } from '../../au/job/tenant-of-key.ts';
import type { Context } from '../../cli/app/command.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/time.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import { type Check, type CheckOutcome, LIMIT_MS, warn } from './check.ts';

/**
 * Checks that the ledger's location is readable, never creates an object twice, and is the location that this machine used
 * before. Does not change the ledger.
 */
export function ledgerCheck(context: Context): Check {
  return {
    name: 'ledger',
    cure: 'If other machines use a ledger already, check that this is its location and that it is mounted.',
    async try() {
      try {
        const used = usedLedgers(context);
        const tenant = used.size > 0 ? await readTenant(context) : null;
        return await inTime(context, (limited) => tryLedger(limited, used, tenant));
      } catch (error) {
        // Drops `svc doctor` as the suggested command, since it is already running.
        throw isSvcError(error) && error.next?.[0] === 'doctor' ? error.with({ next: undefined }) : error;
      }
    },
  };
}

/** Limits the time of the check, so that a store that does not respond does not delay the other findings. */
async function inTime<T>(context: Context, work: (limited: Context) => Promise<T>): Promise<T> {
  const { ledger, timeoutMs } = context.settings;
  const limitMs = Math.min(LIMIT_MS, (timeoutMs.value ?? Infinity) / 2);
  const limit = new AbortController();
  const late = new SvcError('timeout', `${ledger.value}: not checked within ${limitMs / 1000} s`, {
    hint: 'Check the network, and for a bucket AWS_ENDPOINT_URL_S3 and AWS_REGION.',
  });
  const timer = setTimeout(() => limit.abort(late), limitMs);
  try {
    return await work({ ...context, signal: AbortSignal.any([context.signal, limit.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

async function tryLedger(
  context: Context,
  used: ReadonlyMap<string, UsedLedger>,
  tenant: string | null | undefined,
): Promise<CheckOutcome | string | undefined> {
  const { value: location, origin } = context.settings.ledger;
  const ofTenant = [...used].filter(
    ([folder]) => tenant === undefined || (tenant && folder === folderOfTenant(tenant)),
  );
  const objects = location === undefined ? undefined : await openLedgerStore(context, location);
  const isSame = ({ ledger }: UsedLedger): boolean =>
    ledger !== undefined && objects !== undefined && isSamePlace(ledger, objects.name);
  const set = { value: objects?.name, origin };
  const known = ofTenant.find(([, each]) => isSame(each))?.[1].ledger;
  if (known === undefined)
    for (const [folder, each] of ofTenant) requireSameLedger(each, set, folderIn(context, folder));
  if (objects === undefined) return undefined;
  const name = `${objects.name} (${origin.name})`;
  for (const [folder, { ledger = '' }] of [...used].filter(([, each]) => isSame(each)))
    await requireNotEmpty(objects, folder, await openCopies(context, folderIn(context, folder), { name: ledger }));
  const own = (ofTenant.length > 0 && tenant) || undefined;
  await tryPlace(objects, own);
  const hasLedger = await hasCycles(objects, own);
  const missing = tenant && known !== undefined ? await missingObjects(context, objects, tenant, known) : [];
  if (missing[0] !== undefined) return missingOutcome(name, missing);
  if (hasLedger) return `${name}, creates no object twice`;
  return warn(`${name} creates no object twice and has no ledger: the first upload begins one`);
}

/** Returns the shared ledgers that this machine used, by the folder of their tenant. */
function usedLedgers({ system, settings }: Context): ReadonlyMap<string, UsedLedger> {
  const state = directoryOf(system, 'state');
  return state === undefined || settings.sandbox ? new Map() : sharedLedgersUsed(path.join(state, 'ledger'));
}

/** Returns the tenant of the key; null if the service names no tenant, undefined if the service does not respond. */
async function readTenant(context: Context): Promise<string | null | undefined> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const client = await context.client({ signal: AbortSignal.any([context.signal, limit]) });
    return (await tenantOfKey(client)) ?? null;
  } catch (error) {
    // The checks of keys and network report the reason.
    if (context.signal.aborted || (!isSvcError(error) && !limit.aborted)) throw error;
    return undefined;
  }
}

/** Tells whether a location has entries of a tenant; without a tenant, of any tenant. */
async function hasCycles(objects: ObjectStore, tenant: string | undefined): Promise<boolean> {
  for await (const { path: name } of objects.list(tenant === undefined ? '' : `${folderOf(tenant)}/cycles/`))
    if (/^[^/]+\/cycles\/[^/]+\/\d{8}\.json$/.test(name)) return true;
  return false;
}

/**
 * Compares a tenant's ledger with this machine's copies, which are kept under the name `known`. Returns the objects that
 * only the copies have.
 */
async function missingObjects(
  context: Context,
  objects: ObjectStore,
  tenant: string,
  known: string,
): Promise<string[]> {
  const copies = await openCopies(context, folderIn(context, folderOfTenant(tenant)), { name: known });
  const missing: string[] = [];
  const planned = new PlannedObjects(objects);
  const ledger = await Ledger.open(planned, tenant, {
    clock: context.clock,
    who: { host: '', user: '', version: '' },
    cache: planned.copiesIn(copies),
    isFirstUse: false,
    onPutBack: (_, names) => missing.push(...names),
  });
  await ledger.heal();
  return missing;
}

function missingOutcome(name: string, [first = '', ...others]: readonly string[]): CheckOutcome {
  const more = others.length === 0 ? '' : ` and ${countText(others.length, 'other object')}`;
  const fix = 'The next command that sends rows from this machine puts back what is missing.';
  return warn(`${name} lacks ${first}${more}, which this machine has`, fix);
}

/** Returns the folder in which this machine remembers the ledger of a tenant. */
function folderIn({ system }: Context, folder: string): string {
  return path.join(directoryOf(system, 'state') ?? '', 'ledger', folder);
}
