import type { Client } from '../../api/client.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { wholeSecond } from '../entry.ts';
import { beginAt } from '../position.ts';
import { serviceLogs } from '../read-range.ts';
import { type CatchUpOptions, syncArchive } from './catch-up.ts';
import { marginMs, withMargin } from './coverage.ts';
import { beginArchive, checkSubject, findArchive, type FoundArchive } from './manifest.ts';
import { learnTenant, unknownTenant } from './record.ts';
import type { ArchiveStore } from './store.ts';
import { ArchiveWriter, type Written } from './writer.ts';

/** What a run of the archive is told. */
export interface RunOptions extends Omit<CatchUpOptions, 'isNew' | 'onCommit'> {
  /** The service that the client asks, as an archive names it. */
  readonly service: string;
  /** Where a new archive begins, given the service's time; by default with what the service still has. */
  readonly since?: ((now: number) => number) | undefined;
  /** Called once it is known where the run begins. */
  readonly onBegin?: ((begin: RunBegin) => void) | undefined;
  /** Called after each commit. */
  readonly onCommit?: ((written: Written) => void) | undefined;
}

/** Where a run begins. Times in epoch milliseconds, by the service's clock. */
export interface RunBegin {
  readonly isNew: boolean;
  readonly tenantId: string;
  /** Up to here the archive was read. */
  readonly readTo: number;
  /** Where the archive itself begins. */
  readonly since: number;
  readonly now: number;
}

/** What a run came to. */
export interface ArchiveRun extends RunBegin {
  readonly written: Written;
  /** Up to here the archive is read now. */
  readonly archivedTo: number;
  readonly record: number;
  readonly sha256: string;
  /** The signal that ended it, which has done no harm. */
  readonly endedBy: SvcError | undefined;
}

/**
 * Brings the archive at a place up to date, or begins it there; with `follow` keeps it so until a signal comes.
 * Nothing is written before it is known that the service and the tenant are the archive's.
 * @throws SvcError that ended it, with how much time is left to mend it
 */
export async function runArchive(
  store: ArchiveStore,
  openClient: () => Promise<Client>,
  options: RunOptions,
): Promise<ArchiveRun> {
  const found = await findArchive(store);
  if (found) checkSubject(store, found, options);
  const client = await openClient();
  try {
    const tenantId = await learnTenant(client, found?.first.tenant_id);
    if (found) checkSubject(store, found, { tenantId });
    else if (tenantId === undefined) throw unknownTenant();
    return await store.lock(() => new Run(store, client, options).run(tenantId));
  } catch (error) {
    throw await explained(error, store, client, options);
  }
}

class Run {
  readonly #store: ArchiveStore;
  readonly #client: Client;
  readonly #options: RunOptions;

  constructor(store: ArchiveStore, client: Client, options: RunOptions) {
    this.#store = store;
    this.#client = client;
    this.#options = options;
  }

  async run(tenantId: string | undefined): Promise<ArchiveRun> {
    const { onBegin, onCommit } = this.#options;
    const now = this.#client.now();
    const before = await findArchive(this.#store);
    const { first, last } = before ?? (await this.#begin(tenantId, now));
    checkSubject(this.#store, { first, last }, { service: this.#options.service, tenantId });
    const writer = new ArchiveWriter(this.#store, last, {
      tenantId: first.tenant_id,
      isTenantInDoubt: tenantId === undefined,
      now: () => this.#client.now(),
    });
    const begin: RunBegin = {
      isNew: before === undefined,
      tenantId: first.tenant_id,
      readTo: writer.standing.readTo,
      since: Date.parse(first.standing.read_to),
      now,
    };
    onBegin?.(begin);
    const endedBy = await endOf(
      syncArchive(writer, serviceLogs(this.#client, {}), {
        ...this.#options,
        isNew: last.record.kind === 'begin' && typeof first.since !== 'string',
        onCommit: () => onCommit?.(writer.written),
      }),
    );
    return {
      ...begin,
      written: writer.written,
      archivedTo: writer.standing.readTo,
      record: writer.last.record.sequence,
      sha256: writer.last.sha256,
      endedBy,
    };
  }

  async #begin(tenantId: string | undefined, now: number): Promise<FoundArchive> {
    const { service, since, retentionMs } = this.#options;
    if (tenantId === undefined) throw unknownTenant();
    const asked = since?.(now);
    if (asked !== undefined && asked > now) {
      throw new SvcError('usage', '--since lies in the future', {
        hint: 'Say from when on entries are to be archived.',
      });
    }
    const standing = beginAt(wholeSecond(asked ?? now - retentionMs));
    await beginArchive(this.#store, { service, tenantId }, { standing, since: asked, now });
    const found = await findArchive(this.#store);
    if (!found) throw new SvcError('bug', 'an archive that was just begun is gone');
    return found;
  }
}

/** Being asked to end is how a run may end. */
async function endOf(work: Promise<void>): Promise<SvcError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
    throw error;
  }
}

async function explained(
  error: unknown,
  store: ArchiveStore,
  client: Client,
  { retentionMs }: RunOptions,
): Promise<unknown> {
  if (
    !isSvcError(error) ||
    isSvcError(error, 'usage', 'config', 'hangup', 'interrupted', 'terminated', 'bug')
  )
    return error;
  try {
    const found = await findArchive(store);
    if (!found) return error;
    const readTo = Date.parse(found.last.record.standing.read_to);
    return withMargin(error, marginMs(readTo, retentionMs, client.now()));
  } catch {
    return error;
  }
}
