// Runs `svc logs archive`: finds or begins the archive, keeps it up to date, and explains why a run ended.

import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { Store } from '../../client/store/store.ts';
import { beginAt, requireShortOverlap } from '../entry.ts';
import { serviceLogs } from '../read-range.ts';
import { confirmedAhead } from '../tail/follow-logs.ts';
import { workAlone } from '../work-alone.ts';
import { beginArchive, checkSubject, findArchive, type FoundArchive, noArchive } from './manifest.ts';
import { type LostFiles, LostFilesWatch, restoreSegments } from './missing.ts';
import { marginMs, withMargin } from './records/coverage.ts';
import type { Retention } from './retention.ts';
import { ArchiveSync, type SyncOptions } from './sync.ts';
import { ArchiveWriter, type Written } from './writer.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

interface RunOptions extends Omit<SyncOptions, 'beginsWithAll' | 'reopen' | 'onCommit'> {
  /** The base URL of the service, which the archive's first record names. */
  readonly service: string;
  /** Returns the beginning of a new archive, given the service's time. Default: everything that the service still has. */
  readonly since?: ((now: number) => number) | undefined;
  /** Called before a new archive begins. An error that it throws ends the run. */
  readonly onNew?: (() => Promise<void>) | undefined;
  readonly onBegin?: ((begin: RunBegin) => void) | undefined;
  readonly onCommit?: ((written: Written) => void) | undefined;
  /** Called in follow mode with the error of an unusable file of the archive. */
  readonly onDamage?: ((damage: SvcError) => void) | undefined;
  /** Called in follow mode when the set of missing files has changed. */
  readonly onLost?: ((lost: LostFiles) => void) | undefined;
  /** Called with the paths of missing files that were written again from the service. */
  readonly onRestored?: ((paths: readonly string[]) => void) | undefined;
  /** Drops the oldest months after commits. Without it, nothing is dropped. */
  readonly retention?: Retention | undefined;
}

/** Where a run begins. Times are epoch milliseconds by the service's clock. */
export interface RunBegin {
  readonly isNew: boolean;
  readonly tenantId: string;
  readonly readTo: number;
  /** Where the archive itself begins. */
  readonly since: number;
  readonly now: number;
  /** The number of entries that were recovered from segments of killed runs. */
  readonly recovered: number;
  /** The error of an unusable file of the archive. Without `follow`, the run ends with it. */
  readonly damage: SvcError | undefined;
}

export interface ArchiveRun extends RunBegin {
  readonly written: Written;
  readonly archivedTo: number;
  /** The service's time at the end of the run. */
  readonly endedAt: number;
  /** How far the archive ends before that time, because nothing but `Date` headers shows it; 0 if it is up to date. */
  readonly unprovenMs: number;
  readonly record: number;
  readonly sha256: string;
  /** Recorded files that are missing or changed; undefined when a signal ended the run before the search. */
  readonly lost: LostFiles | undefined;
  /** The signal that ended the run, if any. All entries read before it are committed. */
  readonly endedBy: SvcError | undefined;
}

/**
 * Creates or updates an archive. With `follow`, keeps it up to date until a signal arrives.
 * @throws SvcError `usage` for a long overlap; the failure, with the time left before unarchived entries are lost; `pending` while another process writes
 */
export async function runArchive(
  store: Store,
  openClient: () => Promise<Client>,
  options: RunOptions,
): Promise<ArchiveRun> {
  requireShortOverlap(options.overlapMs, options.retentionMs);
  const found = await findArchive(store);
  if (found) checkSubject(store, found, options);
  else await options.onNew?.();
  const client = await openClient();
  const time: KnownTime = { now: () => client.now() };
  try {
    const tenantId = await learnTenant(client);
    if (found) checkSubject(store, found, { tenantId });
    const work = (): Promise<ArchiveRun> => runLocked(store, client, tenantId, options, time);
    return await workAlone((alone) => store.lock(alone), work);
  } catch (error) {
    throw await explained(error, store, time, options);
  }
}

/** The service's time, if known. */
interface KnownTime {
  now: () => number;
}

async function runLocked(
  store: Store,
  client: Client,
  tenantId: string,
  options: RunOptions,
  time: KnownTime,
): Promise<ArchiveRun> {
  const before = await findArchive(store);
  const { first, last } = before ?? (await begun(store, tenantId, client, options));
  const now = client.now();
  const begunAt = client.clock.now();
  checkSubject(store, { first }, { service: options.service, tenantId });
  const writer = await openWriter(store, { first, last }, client);
  const begin: RunBegin = { ...beginOf(writer, first), isNew: before === undefined, now };
  options.onBegin?.(begin);
  if (options.follow && begin.damage) options.onDamage?.(begin.damage);
  const watch = watchOf(store, client, tenantId, options);
  if (options.follow) await watch.lookIfDue(now);
  const sync = new ArchiveSync(writer, serviceLogs(client, {}), {
    ...options,
    beginsWithAll: begin.isNew && typeof first.since !== 'string',
    reopen: (written) => reopened(store, client, options, { ...begin, written }),
    async onCommit(current) {
      options.onCommit?.(current.written);
      await options.retention?.apply(current, { service: client.now(), machine: client.clock.now() });
      if (options.follow) await watch.lookIfDue(client.now());
    },
  });
  time.now = timeOf(sync, client);
  const endedBy = await endOf(sync.run());
  const { last: newest, position, damage, written } = sync.writer;
  // After a signal or a failure, new entries may not be archived, and that error comes first.
  if (damage && !options.follow && endedBy === undefined) throw damage;
  if (endedBy === undefined) await watch.look();
  const endedAt = time.now();
  return {
    ...begin,
    now: endedAt - (client.clock.now() - begunAt),
    written,
    archivedTo: position.readTo,
    endedAt,
    unprovenMs: sync.unprovenMs,
    record: newest.record.sequence,
    sha256: newest.sha256,
    lost: watch.lost,
    endedBy,
  };
}

function watchOf(store: Store, client: Client, tenantId: string, options: RunOptions): LostFilesWatch {
  return new LostFilesWatch(store, {
    onChange: options.onLost,
    async restore(missing) {
      const restored = await restoreSegments(store, serviceLogs(client, {}), tenantId, missing);
      if (restored.length > 0) options.onRestored?.(restored);
      return restored;
    },
  });
}

/** Opens an archive again after its store failed, and removes the local files of the failed commit. */
async function reopened(
  store: Store,
  client: Client,
  { service, onDamage }: RunOptions,
  { tenantId, damage, written }: RunBegin & { readonly written: Written },
): Promise<ArchiveWriter> {
  for (const name of fs.readdirSync(store.workDirectory)) fs.rmSync(path.join(store.workDirectory, name));
  const found = await findArchive(store);
  if (found === undefined) throw await noArchive(store);
  checkSubject(store, found, { service, tenantId });
  const writer = await openWriter(store, found, client, written);
  if (writer.damage && writer.damage.message !== damage?.message) onDamage?.(writer.damage);
  return writer;
}

/** Returns where a run begins, before it has read anything. */
function beginOf(writer: ArchiveWriter, first: FoundArchive['first']): Omit<RunBegin, 'isNew' | 'now'> {
  return {
    tenantId: first.tenant_id,
    readTo: writer.position.readTo,
    since: Date.parse(first.position.read_to),
    recovered: writer.written.entries,
    damage: writer.damage,
  };
}

function openWriter(
  store: Store,
  { first, last }: FoundArchive,
  client: Client,
  written?: Written,
): Promise<ArchiveWriter> {
  return ArchiveWriter.open(store, last, {
    written,
    tenantId: first.tenant_id,
    now: () => client.now(),
    machineAhead: () => client.machineAhead(),
  });
}

/**
 * Returns a clock with the service's time during a run. Until that time is confirmed, the clock never shows an earlier time than
 * at the beginning: a later time leaves less time until entries are lost, which is the safe error.
 */
function timeOf(sync: Pick<ArchiveSync, 'time'>, client: Client): KnownTime['now'] {
  const aheadMs = client.now() - client.clock.now();
  return () => {
    const { time } = sync;
    return time.isConfirmed ? time.now() : Math.max(time.now(), client.clock.now() + aheadMs);
  };
}

async function begun(
  store: Store,
  tenantId: string,
  client: Client,
  { service, since, retentionMs }: RunOptions,
): Promise<FoundArchive> {
  // One false Date header must not decide where an archive begins.
  const aheadMs = await confirmedAhead(client, {}, client.now() - client.clock.now());
  const now = client.clock.now() + aheadMs;
  const machineAheadMs = client.machineAhead();
  const start = since?.(now);
  if (start !== undefined && start > now)
    throw new SvcError('usage', 'the archive cannot begin in the future', {
      hint: 'Choose an earlier time to begin at.',
    });
  const position = beginAt(wholeSecond(start ?? now - retentionMs));
  let conflict: SvcError | undefined;
  try {
    await beginArchive(store, { service, tenantId }, { position, since: start, now, machineAheadMs });
  } catch (error) {
    // Another machine has just begun the archive, so this machine continues it.
    if (!isSvcError(error, 'conflict')) throw error;
    conflict = error;
  }
  const found = await findArchive(store);
  if (!found && conflict) throw conflict;
  if (!found) throw new SvcError('bug', 'an archive that was just begun is gone');
  return found;
}

/** Resolves to the signal that ended the work. A signal is no failure. */
async function endOf(work: Promise<void>): Promise<SvcError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
    throw error;
  }
}

const UNEXPLAINED = ['usage', 'config', 'hangup', 'interrupted', 'terminated', 'bug'] as const;

async function explained(failure: unknown, store: Store, time: KnownTime, { retentionMs }: RunOptions) {
  if (!isSvcError(failure) || isSvcError(failure, ...UNEXPLAINED)) return failure;
  const error = isSvcError(failure, 'checksum_mismatch') ? damageError(failure, store) : failure;
  try {
    const found = await findArchive(store);
    if (!found) return error;
    const readTo = Date.parse(found.last.record.position.read_to);
    // From a position after the service's time, the remaining time cannot be computed.
    const now = time.now();
    if (readTo > now) return error;
    return withMargin(error, marginMs(readTo, retentionMs, now));
  } catch {
    return error;
  }
}

/** Adds the command that lists all damage to the error of a damaged file. */
function damageError(error: SvcError, { name }: Store): SvcError {
  return error.with({ next: error.next ?? ['logs', 'verify', name] });
}

/**
 * Returns the id of the key's tenant. If the key may not read the tenant, the newest entries show the id if all of them name
 * the same one. @throws SvcError `forbidden` if they do not: another tenant may share entries, so one entry proves nothing
 */
export async function learnTenant(client: Client): Promise<string> {
  try {
    return (await client.tenant.read()).id;
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
  }
  const newest = await client.logs.list({}, { pageSize: MAX_PAGE_SIZE }).first(MAX_PAGE_SIZE);
  const [id, ...others] = new Set(newest.flatMap(({ tenant_id: id }) => id ?? []));
  if (id !== undefined && others.length === 0) return id;
  throw new SvcError('forbidden', 'cannot tell which tenant the key belongs to', {
    hint:
      id === undefined
        ? 'Give the key the permission tenant:read, or run the command again once there are log entries.'
        : 'Give the key the permission tenant:read: its log has entries of several tenants.',
  });
}
