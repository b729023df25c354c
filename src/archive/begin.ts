import { SvcError } from '../errors.ts';
import type { Standing } from '../tail/state.ts';
import { appendRecord, readFirst, readLast } from './chain.ts';
import { type BeginRecord, damaged, type Link, recordPath } from './record.ts';
import { toStored } from './standing.ts';
import type { ArchiveStore } from './store.ts';

/** What an archive is of. */
export interface ArchiveSubject {
  /** The service, as its base URL. */
  readonly service: string;
  readonly tenantId: string;
}

/** Where an archive begins. Times in epoch milliseconds, by the service's clock. */
export interface Beginning {
  readonly standing: Standing;
  /** The beginning that was asked for; without one it begins with what the service still has. */
  readonly since: number | undefined;
  readonly now: number;
}

/** An archive that is there: its first record and its newest. */
export interface FoundArchive {
  readonly first: BeginRecord;
  readonly last: Link;
}

/**
 * Finds the archive at a place, without changing anything; undefined where none was begun.
 * @throws SvcError `altered` where its manifest is damaged, `config` where a newer svc wrote it
 */
export async function findArchive(store: ArchiveStore): Promise<FoundArchive | undefined> {
  const [first, last] = [await readFirst(store), await readLast(store)];
  if (last === undefined) return undefined;
  if (first?.record.kind !== 'begin') throw damaged(recordPath(0), 'it is missing');
  return { first: first.record, last };
}

/** Refuses an archive that is of something else. @throws SvcError `config` */
export function checkSubject(
  store: ArchiveStore,
  { first }: FoundArchive,
  { service, tenantId }: { readonly service?: string | undefined; readonly tenantId?: string | undefined },
): void {
  if (service !== undefined && service !== first.service) {
    throw new SvcError('config', `${store.name} is an archive of ${first.service}, not of ${service}`, {
      hint: 'Choose the profile of that service with --profile, or name another place for this one.',
      facts: { archive_service: first.service, service },
    });
  }
  if (tenantId !== undefined && tenantId !== first.tenant_id)
    throw otherTenant(store, first.tenant_id, tenantId);
}

/** The refusal of what belongs to another tenant than the archive. */
export function otherTenant(store: ArchiveStore, archived: string, found: string): SvcError {
  return new SvcError(
    'config',
    `${store.name} is an archive of tenant ${archived}, and the key is of tenant ${found}`,
    {
      hint: `Nothing was written. Choose the profile of tenant ${archived} with --profile, or name another place for tenant ${found}.`,
      facts: { archive_tenant_id: archived, tenant_id: found },
    },
  );
}

/**
 * Begins an archive. Only under the store's lock.
 * @throws SvcError `config` where the place holds something else
 */
export async function beginArchive(
  store: ArchiveStore,
  { service, tenantId }: ArchiveSubject,
  { standing, since, now }: Beginning,
): Promise<Link> {
  for await (const { path } of store.list('')) {
    throw new SvcError('config', `${store.name} holds something else than an archive: ${path}`, {
      hint: 'Name an empty place. If it was an archive, its manifest (_manifest/) is gone: bring it back from a copy.',
    });
  }
  return appendRecord(store, undefined, {
    kind: 'begin',
    service,
    tenant_id: tenantId,
    since: since === undefined ? null : new Date(since).toISOString(),
    written_at: new Date(now).toISOString(),
    standing: toStored(standing),
  });
}
