import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import type { Store } from '../../client/store/store.ts';
import type { Manifest } from '../archive/manifest.ts';
import { entityFilter } from '../filter.ts';
import { openArchive } from '../archive/open-archive.ts';
import type { TailPosition } from '../entry.ts';
import { type EntityInput, intervalOf, type IntervalInput } from '../options.ts';

type Bounds = ReturnType<typeof intervalOf>;

/** The service that has the entries after the end of an archive, and the position of that end. */
export interface LiveSearch {
  readonly client: Client;
  readonly position: TailPosition;
}

/** An archive that is searched, and the time range in epoch milliseconds. */
export interface Searched {
  readonly store: Store;
  readonly manifest: Manifest;
  readonly bounds: Bounds;
  /** Undefined if only the archive is searched. */
  readonly live: LiveSearch | undefined;
}

/**
 * Opens an archive, and with `live` the service of its tenant. Relative times count from the service's time as soon as a
 * response shows it, because with a wrong clock of this machine nothing would be found.
 * @throws SvcError as `readManifest`, `config` for another service or tenant, `usage` for a time after the service's
 */
export async function openSearch(
  context: Context,
  input: IntervalInput & EntityInput & { readonly dir: string; readonly live: boolean },
): Promise<Searched> {
  const { readManifest, readManifestAndPosition } = await import('../archive/manifest.ts');
  const bounds = intervalOf(input, context.clock.now());
  const store = await openArchive(context, input.dir);
  if (!input.live) return { store, manifest: await readManifest(store, bounds), bounds, live: undefined };
  const found = await readManifestAndPosition(store, bounds);
  const { client, others } = await openService(context, input, { store, first: found.first });
  const { position, ...manifest } = others ? await readManifestAndPosition(store, others) : found;
  return { store, manifest, bounds: others ?? bounds, live: { client, position } };
}

/**
 * Opens the service of an archive. Its requests find the tenant of the key, and confirm a time that differs from this
 * machine's. `others` are the times that are then meant.
 */
async function openService(
  context: Context,
  input: IntervalInput & EntityInput,
  { store, first }: Pick<Searched, 'store'> & Pick<Manifest, 'first'>,
): Promise<{ readonly client: Client; readonly others: Bounds | undefined }> {
  const [{ checkSubject }, { learnTenant }, { serviceOf }, { ServiceInterval }, { beginNow }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../archive/archive.ts'),
    import('../../cli/app/service.ts'),
    import('../service-interval.ts'),
    import('../tail/follow-logs.ts'),
  ]);
  checkSubject(store, { first }, { service: serviceOf(context) });
  const client = await context.client();
  const times = new ServiceInterval(client, input);
  checkSubject(store, { first }, { tenantId: await learnTenant(client) });
  if (!times.settle()) return { client, others: undefined };
  await beginNow(client, entityFilter(input), (now) => now);
  times.settle();
  times.requireBegun();
  return { client, others: times.value };
}
