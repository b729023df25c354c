// Verifies a whole archive: its chain, its files and its entries.

import path from 'node:path';
import { isLocked } from '../../base/files/lock.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { Clock, System } from '../../base/system.ts';
import { countText } from '../../cli/output/number.ts';
import { readText, type Store } from '../../client/store/store.ts';
import {
  Contents,
  droppedBy,
  entriesOf,
  isForeign,
  type Manifest,
  noArchive,
  readManifest,
  sumOfEntries,
} from '../archive/manifest.ts';
import { READERS } from '../archive/read-segment.ts';
import { type ChainState, checkChain, type Finding, type Problem } from '../archive/records/chain.ts';
import {
  type ArchiveRecord,
  coversNothing,
  type DropRecord,
  isReview,
  type Link,
  namedKinds,
  parseRecord,
  type RecordContent,
  recordPath,
  type ReviewRecord,
  type Segment,
  tenantFolder,
  UNKNOWN_DAY,
  unlessDamaged,
} from '../archive/records/record.ts';
import { dropProblems, keptFrom } from '../archive/retention.ts';
import { checkSideFiles, contentOf } from '../archive/side-files.ts';
import { reviewProblems } from '../report/review-rules.ts';
import { checkSegment, type ListedSegment } from './check-segment.ts';
import { isStray, UnlistedFiles } from './listed-files.ts';

export interface VerifyOptions {
  /** The hash of a record, saved earlier, that the chain must contain. */
  readonly expect?: string | undefined;
  /** Compares records with the names and sizes of files, and reads no segment. */
  readonly manifestOnly?: boolean | undefined;
  /** The months that retention must keep. Applies to drops after the expected record; without one, to all drops. */
  readonly keep?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** How to wait for the commit of a concurrent run, where it may explain the only findings. Default: not at all. */
  readonly commitWait?: CommitWait | undefined;
}

/** The counts and hashes of a verification. */
export interface Verified {
  /** The contents that the readable records describe. */
  readonly contents: Contents;
  /** The hash of the newest record, which proves everything before it. */
  sha256: string | undefined;
  records: number;
  /** The number of intact segments. */
  segments: number;
  entries: number;
  /** The number of entries of other tenants that share them. */
  shared: number;
  bytes: number;
  /** The number of entries that retention dropped, by the records that listed them. */
  dropped: number;
  /** The remaining files of dropped months: retention could not remove them, was killed, or is at work. */
  undeleted: readonly string[];
  /** The number of segments whose index is damaged, or rules out one of their entries. */
  otherIndexes: number;
  /** The number of files that a killed run left, or that a run is writing. */
  leftovers: number;
  /** The number of files that only lie in the archive. */
  strays: number;
  /** The number of listed entries in files that are missing or changed. */
  unread: number;
}

const NOTHING = {
  records: 0,
  segments: 0,
  entries: 0,
  shared: 0,
  bytes: 0,
  dropped: 0,
  unread: 0,
  otherIndexes: 0,
  leftovers: 0,
  strays: 0,
};

/** Returns the empty result at the beginning of a verification. */
export function nothingVerified(): Verified {
  return { ...NOTHING, contents: new Contents(), sha256: undefined, undeleted: [] };
}

/** Counts the intact segments. `unread` has the paths of all others. */
function totalsOf({ first, segments, dropped }: Contents, unread: ReadonlySet<string>) {
  const read = segments.filter(({ path }) => !unread.has(path));
  const tenantPrefix = first && `${tenantFolder(first.tenant_id)}/`;
  return {
    segments: read.length,
    entries: sumOfEntries(read),
    shared: sumOfEntries(read.filter(({ path }) => tenantPrefix !== undefined && !path.startsWith(tenantPrefix))),
    bytes: read.reduce((sum, { bytes }) => sum + bytes, 0),
    dropped: sumOfEntries(dropped),
    unread: sumOfEntries(segments) - sumOfEntries(read),
  };
}

async function undeletedOf(store: Store, { dropped }: Contents): Promise<string[]> {
  const paths = new Set(dropped.map(({ path }) => path));
  const found: string[] = [];
  if (paths.size === 0) return found;
  for await (const { path: file } of namedKinds(store))
    if (paths.has(file) && (await store.find(file)) !== undefined) found.push(file);
  return found;
}

/** Reads the manifest; undefined if it is damaged, which the findings report. */
export function manifestOf(store: Store): Promise<Manifest | undefined> {
  return unlessDamaged(readManifest(store));
}

/**
 * Reads every byte of an archive, and yields batches of findings: everything that was changed, removed, reordered,
 * truncated or added. `verified` is complete once all findings were read.
 * @throws SvcError `not_found` if there is no archive at all, `local`
 */
export async function* verifyArchive(
  store: Store,
  options: VerifyOptions,
  verified: Verified,
): AsyncGenerator<readonly Finding[]> {
  const unlisted = await UnlistedFiles.of(store);
  const state = newState(store, options, verified, unlisted);
  const { contents } = verified;
  const unread = new Set<string>();
  let others = 0;
  for await (const result of sideBySide(listedSegments(state), READERS, segmentReader(state))) {
    for (const finding of result) {
      if (UNREAD.has(finding.problem)) unread.add(finding.path);
      if (finding.problem === 'missing') state.missing.set(finding.path, finding);
    }
    const findings = [...takeProblems(state), ...result.filter(({ problem }) => problem !== 'missing')];
    others += findings.length;
    verified.strays += findings.filter(isStray).length;
    yield findings;
  }
  await readNewerRecords(state);
  if (others === 0) await awaitNextRecord(state);
  await unlisted.forgetRemoved();
  Object.assign(verified, totalsOf(contents, unread), { undeleted: await undeletedOf(store, contents) });
  const leftovers = [
    ...takeProblems(state),
    ...contents.segments.flatMap(({ path: file }) => state.missing.get(file) ?? []),
    ...unlisted.findings(state.known, state.read.length === state.known + 1 ? state.written : state.known),
  ];
  verified.leftovers = leftovers.filter(({ cause }) => cause === 'run').length;
  if (state.newest === undefined && leftovers.length === 0) throw await noArchive(store);
  const foreign = await foreignFiles(store);
  verified.strays += [...leftovers, ...foreign].filter(isStray).length;
  yield [...leftovers, ...foreign];
  if (!state.isExpected) yield [rewritten(state)];
}

/** The problems of segments whose entries cannot be counted as read. */
const UNREAD: ReadonlySet<Problem> = new Set(['missing', 'changed', 'cut', 'grown']);

/** The state that the steps of a verification share. */
interface VerifyState {
  readonly store: Store;
  readonly options: VerifyOptions;
  readonly verified: Verified;
  readonly unlisted: UnlistedFiles;
  /** Findings of missing files by their paths. A finding is void if a later record drops the segment. */
  readonly missing: Map<string, Finding>;
  /** The paths listed so far, and the hashes of segments that cannot be listed twice. */
  readonly listed: Set<string>;
  /** The two newest records read so far. */
  links: readonly Link[];
  /** The content of the records read so far. */
  readonly read: RecordContent[];
  /** The hashes of the records read so far, by their numbers. */
  readonly hashes: string[];
  newest: ChainState | undefined;
  /** The number of the newest record, including records that a run committed after `newest`. */
  known: number;
  /** The number of the newest readable record that is more than a review or what killed runs left. */
  written: number;
  /** Whether the expected record was read, or no record is expected. */
  isExpected: boolean;
  /** Findings about records, yielded between those about segments. */
  problems: Finding[];
}

function newState(store: Store, options: VerifyOptions, verified: Verified, unlisted: UnlistedFiles): VerifyState {
  return {
    store,
    options,
    verified,
    unlisted,
    missing: new Map(),
    listed: new Set(),
    links: [],
    read: [],
    hashes: [],
    newest: undefined,
    known: -1,
    written: -1,
    isExpected: options.expect === undefined,
    problems: [],
  };
}

/** Returns a function that checks one segment and reports the progress over all segments. */
function segmentReader({
  store,
  options,
  unlisted,
  verified,
}: VerifyState): (listed: ListedSegment) => Promise<Finding[]> {
  const total = unlisted.segmentBytes;
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    options.onProgress?.(done, total);
  };
  const onOtherIndex = (): void => void (verified.otherIndexes += 1);
  const checkOptions = { signal: options.signal, isListedOnly: options.manifestOnly, onBytes, onOtherIndex };
  return (listed) => checkSegment(store, listed, checkOptions);
}

function takeProblems(state: VerifyState): Finding[] {
  const taken = state.problems;
  state.problems = [];
  return taken;
}

/** Reads the records in order, and yields the segments that they list. */
async function* listedSegments(state: VerifyState): AsyncGenerator<ListedSegment> {
  const chain = checkChain(state.store);
  for (let step = await chain.next(); ; step = await chain.next()) {
    if (step.done === true) {
      state.newest = step.value;
      state.known = step.value?.sequence ?? -1;
      state.verified.sha256 = step.value?.sha256;
      for (const finding of await sideFileProblems(state)) state.problems.push(finding);
      return;
    }
    if ('problem' in step.value) state.problems.push(step.value);
    else yield* segmentsOf(state, step.value);
  }
}

async function* segmentsOf(state: VerifyState, link: Link): AsyncGenerator<ListedSegment> {
  const { verified, unlisted, options } = state;
  const { record, sha256 } = link;
  state.problems.push(...contradictions(state, link));
  state.read.push(contentOf(record));
  state.hashes[record.sequence] = sha256;
  state.links = [...state.links.slice(-1), link];
  state.isExpected ||= sha256 === options.expect;
  unlisted.removeOthersOf(record);
  verified.records += 1;
  if (!coversNothing(record)) state.written = record.sequence;
  const segments = record.kind === 'segments' ? record.segments : [];
  const twice = segments.filter((segment) => isListedBefore(state.listed, segment));
  for (const { path: file } of twice) unlisted.remove(file);
  state.problems.push(...twice.map(listedTwice));
  const once = segments.filter((segment) => !twice.includes(segment));
  verified.contents.add(record.kind === 'segments' ? { ...record, segments: once } : record, record.sequence);
  const tenantId = verified.contents.first?.tenant_id;
  for (const segment of once)
    yield { segment, sequence: record.sequence, tenantId, file: await unlisted.take(segment.path) };
}

/**
 * Whether a segment was listed before. Segments of late or timeless entries can be equal; others cannot, because each
 * record has a separate time range.
 */
function isListedBefore(listed: Set<string>, { path: file, sha256, supplementary, first }: Segment): boolean {
  const names = supplementary || first === null ? [file] : [file, sha256];
  const isBefore = names.some((name) => listed.has(name));
  for (const name of names) listed.add(name);
  return isBefore;
}

function listedTwice({ path }: Segment): Finding {
  return { problem: 'unfit', path, message: 'records list it twice: its entries would count twice' };
}

/** Returns contradictions between a record and those before it. After an unreadable record, nothing can be compared. */
function contradictions(state: VerifyState, { record, path: file }: Link): Finding[] {
  const { links, read, verified, options, isExpected } = state;
  const before = links.at(-1)?.record;
  if (before === undefined || read.length !== record.sequence) return [];
  const unfit = (message: string): Finding => ({ problem: 'unfit', path: file, message });
  if (record.kind === 'segments' && Date.parse(record.read_from) < Date.parse(before.position.read_to))
    return [unfit('it covers time that records before it have read or missed')];
  if (isReview(record)) return reviewProblems(record, { ...knownOf(state, record), before }).map(unfit);
  if (record.kind !== 'dropped') return [];
  const taken = droppedBy(record, verified.contents.segments);
  const unexpected = isExpected ? unexpectedDrop(record, taken, options) : undefined;
  const problems = dropProblems(record, { taken, before }).map(unfit);
  return unexpected === undefined ? problems : [...problems, { problem: 'dropped', path: file, message: unexpected }];
}

/** Returns the facts in earlier records that a review must match. */
function knownOf({ hashes, verified: { contents } }: VerifyState, { review }: ReviewRecord) {
  const timeless = entriesOf(contents, { from: UNKNOWN_DAY, to: UNKNOWN_DAY });
  const earlier = contents.reviews.map((signed) => {
    const { number: _, written_at: _1, ...content } = signed;
    return content;
  });
  return { coverage: contents.coverage, hashes, entries: entriesOf(contents, review), timeless, earlier };
}

/** Returns why a drop is unexpected: it follows the expected record, or takes months that retention must keep. */
function unexpectedDrop(
  record: DropRecord & ArchiveRecord,
  taken: readonly Segment[],
  { expect, keep }: VerifyOptions,
): string | undefined {
  if (expect === undefined && keep === undefined) return undefined;
  const end = Date.parse(record.position.read_to);
  if (keep !== undefined && Date.parse(record.before) <= keptFrom(end, keep)) return undefined;
  const since = expect === undefined ? '' : ' after the expected record';
  const allowed = keep === undefined ? '' : `, which is newer than ${countText(keep, 'month')}`;
  return `${record.by} dropped ${countText(sumOfEntries(taken), 'entry')} from before ${record.before}${since}${allowed}`;
}

async function sideFileProblems({ store, newest, links, read }: VerifyState): Promise<Finding[]> {
  const sequence = newest?.sequence ?? -1;
  const isWhole = read.length === sequence + 1;
  const findings: Finding[] = [];
  for await (const finding of checkSideFiles(store, links, isWhole ? read : undefined)) findings.push(finding);
  // A concurrent run may have committed more and removed these files.
  const isOutdated = findings.length > 0 && (await readText(store, recordPath(sequence + 1))) !== undefined;
  return isOutdated ? [] : findings;
}

/** Reads records that a concurrent run has committed meanwhile, if they may explain unlisted or missing files. */
async function readNewerRecords(state: VerifyState): Promise<void> {
  const { store, unlisted, missing, verified } = state;
  while (!unlisted.isEmpty || missing.size > 0) {
    const record = await unlessDamaged(recordAt(store, state.known + 1));
    if (record === undefined) return;
    state.known += 1;
    unlisted.removeOthersOf(record);
    if (record.kind === 'segments') for (const { path: file } of record.segments) unlisted.remove(file);
    if (record.kind === 'dropped') verified.contents.drop(record);
  }
}

/** Waits for a concurrent run to name the only files that no record lists. */
async function awaitNextRecord(state: VerifyState): Promise<void> {
  const { known, unlisted, missing, problems, options } = state;
  const areOthers = missing.size > 0 || problems.length > 0;
  if (options.commitWait === undefined || areOthers || known < 0) return;
  if (unlisted.isEmpty || !unlisted.areOf(known + 1)) return;
  await awaitCommit(options.commitWait, options.signal, async () => {
    await unlisted.forgetRemoved();
    await readNewerRecords(state);
    return unlisted.isEmpty;
  });
}

async function recordAt(store: Store, sequence: number): Promise<ArchiveRecord | undefined> {
  const text = await readText(store, recordPath(sequence));
  return text === undefined ? undefined : parseRecord(text, recordPath(sequence)).record;
}

/** Finds files and folders at the top level that do not belong to the archive. */
async function foreignFiles(store: Store): Promise<Finding[]> {
  const foreign = (await store.names()).filter(isForeign);
  const found: string[] = [];
  for (const name of foreign) if (name.endsWith('/') || (await store.find(name)) !== undefined) found.push(name);
  return found.map((path) => ({ problem: 'unlisted', path, message: 'it does not belong to the archive' }));
}

function rewritten({ store, options }: VerifyState): Finding {
  return {
    problem: 'rewritten',
    path: store.name,
    message: `no record has the hash ${options.expect ?? ''}: the archive is another one, or was recreated`,
  };
}

/** How a verification waits for a commit that another process may be making. */
interface CommitWait {
  readonly clock: Clock;
  /** Whether a writer may be at work. */
  readonly mayBeWritten: () => boolean;
}

/** The longest wait, enough for the index of a large commit to reach a slow bucket. */
const MAX_MS = 30_000;
const PAUSE_MS = 500;

/** Returns how to wait for a commit to an archive. If nobody has the lock of its directory, there is no wait. */
export function commitWait(
  { clock, system }: { readonly clock: Clock; readonly system: Pick<System, 'pid' | 'isAlive'> },
  store: Store,
): CommitWait {
  // The lock of a bucket shows only the writers on this machine.
  return { clock, mayBeWritten: () => store.isRemote || isLocked(path.join(store.name, '.lock'), system) };
}

/** Repeats `isDone`, which reads the archive again, until it returns true or no process can commit any more. */
async function awaitCommit(
  { clock, mayBeWritten }: CommitWait,
  signal: AbortSignal | undefined,
  isDone: () => Promise<boolean>,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    // A writer that ended before this moment has committed before `isDone` reads.
    const isLast = waitedMs >= MAX_MS || !mayBeWritten();
    if ((await isDone()) || isLast) return;
    await clock.sleep(PAUSE_MS, signal);
  }
}
