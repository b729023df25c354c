// `svc logs search`: searches an archive, and with --live the newer entries of the service.

import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import type { Store } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorNames } from '../actor.ts';
import type { Bounds, Manifest } from '../archive/manifest.ts';
import type { UncoveredTime } from '../archive/archive-text.ts';
import { openArchive, withByteProgress } from '../archive/open-archive.ts';
import type { Segment } from '../archive/records/record.ts';
import type { TailPosition } from '../entry.ts';
import {
  entityFilter,
  type EntryFilter,
  filterOf,
  idsAmong,
  isAbout,
  matches,
  reportUnmatchedFilters,
  valuesAmong,
} from '../filter.ts';
import {
  type ENTITY_PARAMETERS,
  type EntityInput,
  type IntervalInput,
  intervalOf,
  type UNMARKED_ENTRY_PARAMETERS,
} from '../options.ts';
import { MalformedEntries } from '../malformed-entries.ts';
import { gapText } from '../sentences.ts';
import type { Lookup } from './look-up.ts';
import type { EntrySource } from './search-segments.ts';

interface SearchInput extends IntervalInput, Input<typeof ENTITY_PARAMETERS>, Input<typeof UNMARKED_ENTRY_PARAMETERS> {
  /** The location of the archive. */
  readonly dir: string;
  readonly limit: number | undefined;
  /** Whether to read all segments without an index. */
  readonly full: boolean;
  /** Whether to add the newer entries that only the service has. */
  readonly live: boolean;
  /** Whether it is an error that the archive does not cover the requested time. */
  readonly strict: boolean;
  readonly retention?: number | undefined;
  /** Whether all entries of an entity are shown, from its creation on. */
  readonly isHistory?: boolean;
  /** The way to get newer entries, if it is not `--live`. */
  readonly newer?: string;
}

interface SearchView {
  /** The actors that are shown. */
  readonly actors?: ActorNames | undefined;
  /** A further condition on each entry. */
  readonly isWanted?: ((log: Log) => boolean) | undefined;
}

/**
 * Prints the matching entries of an archive, and with `live` newer ones from the service.
 * @throws SvcError `entries_missing` with `strict`
 */
export async function searchArchive(
  context: Context,
  typed: SearchInput,
  print: (batches: AsyncIterable<readonly Log[]>) => Promise<number>,
  { actors, isWanted = () => true }: SearchView = {},
): Promise<void> {
  const input = await filterOf(context, typed);
  const [{ reportGaps }, { searchSegments }, { partToRead }] = await Promise.all([
    import('../archive/archive-text.ts'),
    import('./search-segments.ts'),
    import('./look-up.ts'),
  ]);
  const { store, manifest, bounds, live } = await openSearch(context, input);
  if (actors) {
    actors.service = manifest.first.service;
    actors.isOffline ||= !input.live;
  }
  const uncovered: UncoveredTime[] = [];
  const read = { entries: 0, segments: 0, live: 0 };
  const more = live && (await liveOf(context, input, { ...live, bounds, isWanted, uncovered, read }));
  const { newer = '--live adds what is newer', isHistory } = input;
  const beyond = { newer, isHistory, isEndEnough: input.live };
  uncovered.push(...reportGaps(context, manifest, bounds, beyond));
  const index = await lookUp(context, input, { store, segments: manifest.segments });
  const segments = manifest.segments.filter(({ sha256 }) => index?.get(sha256)?.wanted.length !== 0);
  const parts = segments.map((segment) => partToRead(index, segment));
  const byIndex = segments.length < manifest.segments.length || parts.some(({ columns }) => columns !== undefined);
  const reading = { dir: input.dir, label: 'search', store, segments: parts };
  const malformed = new MalformedEntries();
  const shown = await withByteProgress(context, reading, (onBytes) => {
    const matchingEntries = searchSegments(store, {
      ...bounds,
      segments,
      index,
      matches: (log) => isAbout(log, input) && matches(log, input) && isWanted(log),
      among: valuesAmong(input),
      limit: input.limit,
      more,
      signal: context.signal,
      onBytes,
      onRead: (entries) => {
        read.entries += entries;
        read.segments += 1;
      },
    });
    return print(malformed.counted(shownOf(input, actors, matchingEntries)));
  });
  malformed.warn(context);
  await reportFound(context, input, { shown, read, byIndex, allSegments: manifest.allSegments, uncovered });
}

/** Finds the parts of segments that may have the typed ids; undefined if all segments are read. */
async function lookUp(
  context: Context,
  input: SearchInput & EntryFilter,
  { store, segments }: { readonly store: Store; readonly segments: readonly Segment[] },
): Promise<Lookup | undefined> {
  const query = idsAmong(input);
  if (input.full || query.length === 0) return undefined;
  const { IndexCache, IndexLookup } = await import('./look-up.ts');
  const lookup = new IndexLookup(store, new IndexCache(context.system), query);
  const lacking = await lookup.look(segments);
  const reading = { dir: input.dir, label: 'index', store, segments: lacking };
  const { signal } = context;
  if (lacking.length > 0)
    await withByteProgress(context, reading, (onBytes) => lookup.make(lacking, { onBytes, signal }));
  return lookup.found;
}

interface Found {
  readonly shown: number;
  /** The number of entries and segments read from the archive, and of entries read from the service. */
  readonly read: Readonly<Record<'entries' | 'segments' | 'live', number>>;
  readonly allSegments: number;
  /** Whether an index made reading some parts unnecessary. */
  readonly byIndex: boolean;
  /** The warnings about time that the archive does not cover. */
  readonly uncovered: readonly UncoveredTime[];
}

async function reportFound(
  context: Context,
  input: SearchInput & EntryFilter,
  { shown, read, byIndex, allSegments, uncovered }: Found,
): Promise<void> {
  const { limit } = input;
  const where = `${read.segments} of ${countText(allSegments, 'segment')}`;
  const fromService = input.live ? `, and ${formatNumber(read.live)} from the service` : '';
  const words = `${formatNumber(read.entries)} read, in ${where}${fromService}${byIndex ? '; searched: index, --full reads all' : ''}`;
  context.notices.note(`${countText(shown, 'entry')} found; ${words}`);
  if (limit !== undefined && shown >= limit) context.notices.note('there may be more: use a larger --limit');
  await reportUnmatchedFilters(context, input);
  (await import('../archive/archive-text.ts')).requireCovered(input.dir, uncovered, input.strict);
}

/** Returns the entries of the one entity that was named, whose actors get their names. */
function shownOf({ entity }: EntryFilter, actors: ActorNames | undefined, found: AsyncIterable<readonly Log[]>) {
  const only = entity.only(found);
  return actors?.learned(only) ?? only;
}

/** Opens the service's entries after the end of the archive. */
async function liveOf(
  { notices }: Context,
  input: SearchInput & EntryFilter,
  {
    client,
    position,
    bounds,
    isWanted,
    uncovered,
    read,
  }: LiveSearch & {
    bounds: Bounds;
    isWanted: (log: Log) => boolean;
    /** Gets the warnings about time that neither the archive nor the service has. */
    uncovered: UncoveredTime[];
    /** Counts the entries read from the service. */
    read: { live: number };
  },
): Promise<EntrySource> {
  const [{ liveEntries }, { serviceLogs }, defaults] = await Promise.all([
    import('./search-segments.ts'),
    import('../read-range.ts'),
    import('../entry.ts'),
  ]);
  return liveEntries(serviceLogs(client, entityFilter(input)), position, {
    ...bounds,
    overlapMs: defaults.DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? defaults.DEFAULT_RETENTION_MS,
    matches: (log) => {
      read.live += 1;
      return matches(log, input) && isWanted(log);
    },
    onGap: (gap) => {
      const warning = `${gapText(gap)}: the archive was not updated within the retention of the logs`;
      notices.warn(warning);
      uncovered.push({ warning, canBeAdded: false });
    },
  });
}

/** The service that has the entries after the end of an archive, and the position of that end. */
interface LiveSearch {
  readonly client: Client;
  readonly position: TailPosition;
}

/** An archive that is searched, and the time range in epoch milliseconds. */
interface Searched {
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
async function openSearch(
  context: Context,
  input: IntervalInput & EntityInput & { readonly dir: string; readonly live: boolean },
): Promise<Searched> {
  const { readManifest, readManifestAndPosition } = await import('../archive/manifest.ts');
  const bounds = intervalOf(input, context.clock.now());
  const store = await openArchive(context, input.dir);
  if (!input.live) return { store, manifest: await readManifest(store, bounds), bounds, live: undefined };
  const opened = await readManifestAndPosition(store, bounds);
  const { client, others } = await openService(context, input, { store, first: opened.first });
  const { position, ...manifest } = others ? await readManifestAndPosition(store, others) : opened;
  return { store, manifest, bounds: others ?? bounds, live: { client, position } };
}

/**
 * Opens the service of an archive, reads the tenant of the key, and confirms the service's time if it differs from this
 * machine's. `others` are the typed times, which then count from the service's time.
 */
async function openService(
  context: Context,
  input: IntervalInput & EntityInput,
  { store, first }: Pick<Searched, 'store'> & Pick<Manifest, 'first'>,
): Promise<{ readonly client: Client; readonly others: Bounds | undefined }> {
  const [{ checkSubject }, { learnTenant }, { serviceOf }, { ServiceInterval }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../archive/archive.ts'),
    import('../../cli/app/service.ts'),
    import('../service-interval.ts'),
  ]);
  checkSubject(store, { first }, { service: serviceOf(context) });
  const client = await context.client();
  const times = new ServiceInterval(client, input);
  checkSubject(store, { first }, { tenantId: await learnTenant(client) });
  if (!times.settle()) return { client, others: undefined };
  await times.learn(client, entityFilter(input));
  return { client, others: times.value };
}
