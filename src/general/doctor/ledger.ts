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
import { readTenantOfKey } from '../../au/job/tenant-of-key.ts';
import type { Context } from '../../cli/app/command.ts';
import { isEmbeddedSandbox } from '../../cli/app/service.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/number.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import { type Check, type CheckOutcome, LIMIT_MS, skip, warn } from './check.ts';

/**
 * Returns the check that the ledger's location can be read, never creates an object twice, and is the location that this
 * machine used before. The check does not change the ledger.
 */
export function ledgerCheck(context: Context): Check {
  return {
    name: 'ledger',
    cure: 'If other machines use a ledger already, check that this is its location and that it is mounted.',
    async try() {
      if (isEmbeddedSandbox(context))
        return context.settings.ledger.value && skip('not used by the embedded sandbox, which keeps its own ledger');
      try {
        const used = usedLedgers(context);
        const isUsed = used.size > 0 || context.settings.ledger.value !== undefined;
        const tenant = isUsed ? await readTenant(context) : null;
        return await inTime(context, (limited) => tryLedger(limited, used, tenant));
      } catch (error) {
        // The error may suggest svc doctor, which is running already.
        throw isSvcError(error) && error.next?.[0] === 'doctor' ? error.with({ next: undefined }) : error;
      }
    },
  };
}

/** Limits the time of the check, because a store that does not respond would delay the other findings. */
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

/** The shared ledgers that this machine used, by the folder of their tenant. */
type UsedLedgers = ReadonlyMap<string, UsedLedger>;

async function tryLedger(
  context: Context,
  used: UsedLedgers,
  tenant: string | null | undefined,
): Promise<CheckOutcome | string | undefined> {
  const { value: location, origin } = context.settings.ledger;
  const objects = location === undefined ? undefined : await openLedgerStore(context, location);
  const ofTenant = new Map([...used].filter(([folder]) => isOfTenant(folder, tenant)));
  const usedHere = (ledgers: UsedLedgers): UsedLedgers =>
    new Map([...ledgers].filter(([, each]) => isAt(objects, each)));
  const [known] = usedHere(ofTenant).values();
  if (known === undefined)
    for (const [folder, each] of ofTenant)
      requireSameLedger(each, { value: objects?.name, origin }, folderIn(context, folder));
  if (objects === undefined) return undefined;
  await requireKept(context, objects, usedHere(used));
  const own = (ofTenant.size > 0 && tenant) || undefined;
  await tryPlace(objects, own);
  const hasLedger = await hasCycles(objects, own);
  const name = `${objects.name} (${origin.name})`;
  const missing = tenant ? await missingObjects(context, objects, tenant, known?.ledger ?? objects.name) : [];
  if (missing.length > 0) return missingOutcome(name, missing);
  if (hasLedger) return `${name}, creates no object twice`;
  return warn(`${name} creates no object twice and has no ledger: the first upload begins one`);
}

/** Whether a folder of used ledgers belongs to the tenant of the key; true for every folder if that tenant is unknown. */
function isOfTenant(folder: string, tenant: string | null | undefined): boolean {
  return tenant === undefined || (tenant !== null && folder === folderOfTenant(tenant));
}

function isAt(objects: ObjectStore | undefined, { ledger }: UsedLedger): boolean {
  return ledger !== undefined && objects !== undefined && isSamePlace(ledger, objects.name);
}

/** Checks that a location still has the ledgers that this machine used there. @throws SvcError `config` */
async function requireKept(context: Context, objects: ObjectStore, used: UsedLedgers): Promise<void> {
  for (const [folder, { ledger = '' }] of used)
    await requireNotEmpty(objects, folder, await openCopies(context, folderIn(context, folder), { name: ledger }));
}

function usedLedgers({ system, settings }: Context): UsedLedgers {
  const state = directoryOf(system, 'state');
  return state === undefined || settings.sandbox ? new Map() : sharedLedgersUsed(path.join(state, 'ledger'));
}

/** Returns the tenant of the key; null if the service names no tenant, undefined if the service does not respond. */
async function readTenant(context: Context): Promise<string | null | undefined> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const client = await context.client({ signal: AbortSignal.any([context.signal, limit]) });
    return (await readTenantOfKey(client)) ?? null;
  } catch (error) {
    // The checks of keys and network report the reason.
    if (context.signal.aborted || (!isSvcError(error) && !limit.aborted)) throw error;
    return undefined;
  }
}

/** Whether a location has entries of a tenant; without a tenant, of any tenant. */
async function hasCycles(objects: ObjectStore, tenant: string | undefined): Promise<boolean> {
  for await (const { path: name } of objects.list(tenant === undefined ? '' : `${folderOf(tenant)}/cycles/`))
    if (/^[^/]+\/cycles\/[^/]+\/\d{8}\.json$/.test(name)) return true;
  return false;
}

/**
 * Compares a tenant's ledger with this machine's copies, which are kept under the name `known`, and with the service's jobs.
 * Returns the objects that only the copies have.
 * @throws SvcError `config` for what is missing in both
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
  const { requireClaims } = await import('../../au/jobs/compare-jobs.ts');
  await requireClaims(await context.client({ signal: context.signal }), ledger);
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
