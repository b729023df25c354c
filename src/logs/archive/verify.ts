import { countText } from '../../cli/output/time.ts';
import { type ChainState, checkChain, type Finding } from './chain.ts';
import { checkSegment, type Listed } from './check.ts';
import { Coverage } from './coverage.ts';
import { IndexCheck } from './index/check.ts';
import { INDEX, indexNumber } from './index/ref.ts';
import { unlessDamaged } from './index/upkeep.ts';
import { type Manifest, noArchive, readManifest } from './manifest.ts';
import {
  type ArchiveRecord,
  type BeginRecord,
  type DropRecord,
  isDroppedBy,
  isHidden,
  type Link,
  MANIFEST,
  parseRecord,
  partNumber,
  type RecordContent,
  recordPath,
  type Segment,
  sideNumber,
  tenantFolder,
} from './record.ts';
import { dropProblems, keptFrom } from './retention.ts';
import { checkSideFiles, contentOf, filesOf } from './side-files.ts';
import { type ArchiveStore, READERS, sideBySide, type StoredFile } from './store.ts';

export interface VerifyOptions {
  /** The hash of a record that the chain must hold, from an earlier run. */
  readonly expect?: string | undefined;
  /** Compares records with the names and sizes of files, and reads no segment and no index. */
  readonly manifestOnly?: boolean | undefined;
  /** Months that retention keeps: drops after the expected record, or all without one, may only take older ones. */
  readonly keep?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface Verified {
  readonly begin: BeginRecord | undefined;
  /** Of the newest record; it stands for all that was written. */
  readonly sha256: string | undefined;
  readonly records: number;
  readonly segments: number;
  readonly entries: number;
  /** How many of them are of other tenants, which share them. */
  readonly shared: number;
  readonly bytes: number;
  /** How many entries retention has dropped, counted by the records that listed them. */
  readonly dropped: number;
  readonly coverage: Coverage;
}

/** What a segment adds to the counts. */
interface Counted {
  readonly path: string;
  readonly entries: number;
  readonly bytes: number;
  readonly shared: number;
}

const SEGMENTS = 'tenant=';

/** Reads every byte of an archive: gives all that was changed, removed, reordered, truncated or added. */
export class Verification {
  readonly #store: ArchiveStore;
  readonly #options: VerifyOptions;
  readonly #coverage = new Coverage();
  readonly #unlisted = new Map<string, StoredFile>();
  /** Paths that records have listed, and hashes of those that no other segment can have. */
  readonly #listedBefore = new Set<string>();
  readonly #total = { records: 0, segments: 0, entries: 0, shared: 0, bytes: 0, dropped: 0 };
  #manifest: Promise<Manifest | undefined> | undefined;
  #index: IndexCheck | undefined;
  #begin: BeginRecord | undefined;
  #newest: ChainState | undefined;
  #met: boolean;
  /** Findings of the chain, given between those of segments. */
  #pending: Finding[] = [];
  /** Segments that are missing, by their paths, unless a record drops them. */
  readonly #missing = new Map<string, Finding>();
  #kept: Counted[] = [];
  readonly #contents: RecordContent[] = [];
  /** The two newest records. */
  #links: Link[] = [];

  constructor(store: ArchiveStore, options: VerifyOptions = {}) {
    this.#store = store;
    this.#options = options;
    this.#met = options.expect === undefined;
  }

  /** What was found in all; complete once the findings have been read. */
  result(): Verified {
    return { begin: this.#begin, sha256: this.#newest?.sha256, ...this.#total, coverage: this.#coverage };
  }

  /** What the manifest says before anything else is read; undefined where it is damaged, which the findings show. */
  manifest(): Promise<Manifest | undefined> {
    return (this.#manifest ??= unlessDamaged(readManifest(this.#store)));
  }

  /** All problems, in batches. @throws SvcError `not_found` where there is no archive at all, `local` */
  async *findings(): AsyncGenerator<readonly Finding[]> {
    let total = 0;
    for await (const file of this.#store.list(SEGMENTS)) {
      if (isHidden(file.path)) continue;
      this.#unlisted.set(file.path, file);
      total += file.bytes;
    }
    for await (const file of this.#otherFiles()) if (!isHidden(file.path)) this.#unlisted.set(file.path, file);
    this.#index = await this.#openIndex();
    let done = 0;
    const options = {
      signal: this.#options.signal,
      isListedOnly: this.#options.manifestOnly,
      onBytes: (bytes: number) => {
        done += bytes;
        this.#options.onProgress?.(done, total);
      },
    };
    const checks = sideBySide(this.#listed(), READERS, (listed) => checkSegment(this.#store, listed, options));
    for await (const found of checks) yield [...this.#take(), ...found.filter((each) => !this.#isMissing(each))];
    yield (await this.#index?.findings()) ?? [];
    const newer = await this.#newerRecords();
    const left = [...this.#take(), ...this.#lost(newer), ...this.#leftOver()];
    if (this.#newest === undefined && left.length === 0) throw await noArchive(this.#store);
    yield [...left, ...(await this.#unknownFiles())];
    if (!this.#met) yield [this.#rewritten()];
  }

  /** Files of the index, and those beside the records: records name these, too. */
  async *#otherFiles(): AsyncGenerator<StoredFile> {
    yield* this.#store.list(INDEX);
    for await (const file of this.#store.list(MANIFEST, `${MANIFEST}a`))
      if (!Number.isNaN(sideNumber(file.path))) yield file;
  }

  async #openIndex(): Promise<IndexCheck | undefined> {
    if (this.#options.manifestOnly) return undefined;
    const manifest = await this.manifest();
    return manifest && IndexCheck.open(this.#store, manifest.index);
  }

  /** The segments of all records; problems of the records become pending. */
  async *#listed(): AsyncGenerator<Listed> {
    const chain = checkChain(this.#store);
    for (let step = await chain.next(); ; step = await chain.next()) {
      if (step.done === true) {
        this.#newest = step.value;
        return this.#checkSideFiles();
      }
      if ('problem' in step.value) {
        this.#pending.push(step.value);
        continue;
      }
      const { record, sha256 } = step.value;
      this.#pending.push(...this.#contradictions(step.value));
      this.#contents.push(contentOf(record));
      this.#listOthers(record);
      this.#links = [...this.#links.slice(-1), step.value];
      this.#total.records += 1;
      this.#met ||= sha256 === this.#options.expect;
      this.#coverage.add(record);
      if (record.kind === 'begin') this.#begin = record;
      if (record.kind === 'dropped') this.#drop(record);
      if (record.kind !== 'segments') continue;
      for (const segment of record.segments) {
        if (!this.#isListedAgain(segment)) yield await this.#count(segment, record.sequence);
      }
    }
  }

  #listOthers(record: ArchiveRecord): void {
    for (const { path } of filesOf(record)) this.#unlisted.delete(path);
    if (record.kind === 'segments') for (const { path } of record.index ?? []) this.#unlisted.delete(path);
  }

  /** What a record says against the records before it. Behind an unreadable record nothing is known. */
  #contradictions({ record, path }: Link): Finding[] {
    const before = this.#links.at(-1)?.record;
    if (before === undefined || this.#contents.length !== record.sequence) return [];
    const unfit = (message: string): Finding => ({ problem: 'unfit', path, message });
    if (record.kind === 'segments' && Date.parse(record.read_from) < Date.parse(before.position.read_to))
      return [unfit('it covers time that records before it have read or missed')];
    if (record.kind !== 'dropped') return [];
    const taken = this.#kept.filter((counted) => isDroppedBy(record, counted.path));
    return [...dropProblems(record, { taken, before }).map(unfit), ...this.#unexpectedDrop(record, path, taken)];
  }

  #unexpectedDrop(record: DropRecord & ArchiveRecord, path: string, taken: readonly Counted[]): Finding[] {
    const { expect, keep } = this.#options;
    if (!this.#met || (expect === undefined && keep === undefined)) return [];
    const end = Date.parse(record.position.read_to);
    if (keep !== undefined && Date.parse(record.before) <= keptFrom(end, keep)) return [];
    const entries = taken.reduce((sum, counted) => sum + counted.entries, 0);
    const since = expect === undefined ? '' : ' after the expected record';
    const allowed = keep === undefined ? '' : `, which is newer than ${countText(keep, 'month')}`;
    const message = `${record.by} dropped ${countText(entries, 'entry')} from before ${record.before}${since}${allowed}`;
    return [{ problem: 'dropped', path, message }];
  }

  async #checkSideFiles(): Promise<void> {
    const sequence = this.#newest?.sequence ?? -1;
    const isWhole = this.#contents.length === sequence + 1;
    const found: Finding[] = [];
    for await (const finding of checkSideFiles(this.#store, this.#links, isWhole ? this.#contents : undefined))
      found.push(finding);
    // A run under way may have committed more meanwhile, and removed them.
    if (found.length > 0 && (await this.#store.readText(recordPath(sequence + 1))) === undefined)
      this.#pending.push(...found);
  }

  async #count(segment: Segment, sequence: number): Promise<Listed> {
    const tenantId = this.#begin?.tenant_id;
    const { path, entries, bytes } = segment;
    const isShared = tenantId !== undefined && !path.startsWith(`${tenantFolder(tenantId)}/`);
    const counted = { path, entries, bytes, shared: isShared ? entries : 0 };
    this.#kept.push(counted);
    this.#add(counted, 1);
    return { segment, sequence, tenantId, index: this.#index, file: await this.#fileOf(segment.path) };
  }

  #add({ entries, bytes, shared }: Counted, sign: 1 | -1): void {
    this.#total.segments += sign;
    this.#total.entries += sign * entries;
    this.#total.bytes += sign * bytes;
    this.#total.shared += sign * shared;
  }

  #drop(record: DropRecord): void {
    for (const counted of this.#kept) {
      if (!isDroppedBy(record, counted.path)) continue;
      this.#add(counted, -1);
      this.#total.dropped += counted.entries;
    }
    this.#kept = this.#kept.filter(({ path }) => !isDroppedBy(record, path));
  }

  #isMissing(finding: Finding): boolean {
    if (finding.problem === 'missing') this.#missing.set(finding.path, finding);
    return finding.problem === 'missing';
  }

  /** Segments that are missing and should not be. */
  #lost(newer: readonly ArchiveRecord[]): Finding[] {
    for (const record of newer) if (record.kind === 'dropped') this.#drop(record);
    return this.#kept.flatMap(({ path }) => this.#missing.get(path) ?? []);
  }

  // Two segments of late or timeless entries can be equal; others cannot, as each record has a time range of its own.
  #isListedAgain({ path, sha256, supplementary, first }: Segment): boolean {
    const isUnique = !supplementary && first !== null;
    const isAgain = this.#listedBefore.has(path) || (isUnique && this.#listedBefore.has(sha256));
    const message = 'records list it twice: its entries would count twice';
    if (isAgain) this.#pending.push({ problem: 'unfit', path, message });
    this.#listedBefore.add(path);
    if (isUnique) this.#listedBefore.add(sha256);
    if (isAgain) this.#unlisted.delete(path);
    return isAgain;
  }

  // A file that was not there at first may have been written since.
  async #fileOf(path: string): Promise<StoredFile | undefined> {
    let found = this.#unlisted.get(path);
    this.#unlisted.delete(path);
    if (found !== undefined) return found;
    for await (const file of this.#store.list(path)) if (file.path === path) found = file;
    return found;
  }

  #take(): Finding[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }

  /** Records that a run under way has committed meanwhile. */
  async #newerRecords(): Promise<ArchiveRecord[]> {
    const records: ArchiveRecord[] = [];
    for (let sequence = (this.#newest?.sequence ?? -1) + 1; this.#unlisted.size + this.#missing.size > 0;) {
      const record = await unlessDamaged(this.#record(sequence));
      if (record === undefined) break;
      records.push(record);
      sequence += 1;
      this.#listOthers(record);
      if (record.kind === 'segments') for (const { path } of record.segments) this.#unlisted.delete(path);
    }
    return records;
  }

  async #record(sequence: number): Promise<ArchiveRecord | undefined> {
    const text = await this.#store.readText(recordPath(sequence));
    return text === undefined ? undefined : parseRecord(text, recordPath(sequence)).record;
  }

  /** Files that no record lists. */
  #leftOver(): Finding[] {
    const newest = this.#newest?.sequence ?? -1;
    return [...this.#unlisted.values()].map(({ path, irregular }) => {
      if (irregular !== undefined)
        return { problem: 'unlisted', path, message: `it is ${irregular}, and no record lists it` };
      const words = 'no record lists it: a killed run left it; the next commit to the archive removes it';
      return { problem: 'unlisted', path, message: numberOf(path) > newest ? words : 'no record lists it' };
    });
  }

  async #unknownFiles(): Promise<Finding[]> {
    const names = await this.#store.names();
    return names
      .filter((name) => ![MANIFEST, INDEX].includes(name) && !isHidden(name) && !name.startsWith(SEGMENTS))
      .map((path) => ({ problem: 'unlisted', path, message: 'it does not belong to the archive' }));
  }

  #rewritten(): Finding {
    return {
      problem: 'rewritten',
      path: this.#store.name,
      message: `no record has the hash ${this.#options.expect ?? ''}: the archive is another one, or was recreated`,
    };
  }
}

/** The number of the record that a file was written for; NaN for any other file. */
function numberOf(path: string): number {
  if (path.startsWith(SEGMENTS)) return partNumber(path);
  return path.startsWith(INDEX) ? indexNumber(path) : sideNumber(path);
}
