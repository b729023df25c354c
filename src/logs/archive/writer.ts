import { SvcError } from '../../errors.ts';
import { isoTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import { fromStored, toStored } from '../checkpoint.ts';
import type { TimeRange } from '../entry.ts';
import { settledBefore, type TailPosition } from '../position.ts';
import { ChainEnd, storeSegment } from './chain-end.ts';
import type { Draft } from './chain.ts';
import { otherTenant } from './manifest.ts';
import { Pending, type PendingLimits } from './pending.ts';
import type { Link, Segment } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** What a writer is told. */
export interface WriterOptions {
  readonly tenantId: string;
  /** Whether it is not known that the key is of this tenant: then the first entry says so, one way or the other. */
  readonly isTenantInDoubt?: boolean | undefined;
  /** How much may be pending before a commit is due. */
  readonly limits?: PendingLimits | undefined;
  /** The time by the service's clock, in epoch milliseconds. */
  readonly now: () => number;
}

/** What was added to an archive so far. */
export interface Written {
  entries: number;
  /** How many of them came late, and stand in supplementary segments. */
  late: number;
  /** How many are of other tenants, which share them: they stand in folders of their own. */
  shared: number;
  /** How many have no time that can be read, and stand under `date=unknown`. */
  timeless: number;
  /** How many not every reader of JSON takes: they stand in raw segments. */
  raw: number;
  /** How many hold what looks like a card number. */
  cardNumbers: number;
  segments: number;
  gaps: TimeRange[];
}

const LIMITS: PendingLimits = { entries: 100_000, characters: 64 * 1024 * 1024 };

/** Adds to an archive, commit by commit. Only under the store's lock. */
export class ArchiveWriter {
  readonly written: Written = {
    entries: 0,
    late: 0,
    shared: 0,
    timeless: 0,
    raw: 0,
    cardNumbers: 0,
    segments: 0,
    gaps: [],
  };
  readonly #store: ArchiveStore;
  readonly #options: WriterOptions;
  readonly #end: ChainEnd;
  #standing: TailPosition;
  /** Where the stretch of time begins that the next commit brings the archive up to. */
  #readFrom: number;
  #pending: Pending;
  #gapTo = 0;
  #isWhole = true;
  #isTenantInDoubt: boolean;

  /** Goes on after the newest record. */
  constructor(store: ArchiveStore, last: Link, options: WriterOptions) {
    this.#store = store;
    this.#options = options;
    this.#isTenantInDoubt = options.isTenantInDoubt === true;
    this.#end = new ChainEnd(store, last, options.tenantId, options.now);
    this.#standing = fromStored(last.record.standing);
    this.#readFrom = this.#standing.readTo;
    this.#pending = this.#newPending();
  }

  /** The newest record. */
  get last(): Link {
    return this.#end.last;
  }

  /** Where the archive stands: all that a tail gave up to there is committed. */
  get standing(): TailPosition {
    return this.#standing;
  }

  /** Whether nothing was committed or taken since the archive was begun. */
  get isEmpty(): boolean {
    return this.#end.last.record.kind === 'begin' && this.#pending.entries === 0;
  }

  /** Whether so much waits for a commit that it is due. */
  get isFull(): boolean {
    return this.#pending.isFull;
  }

  /** How many entries wait for a commit. */
  get waiting(): number {
    return this.#pending.entries;
  }

  /** Takes entries. They are in the archive after the next commit. @throws SvcError `config` for another tenant's key */
  async add(logs: readonly Log[]): Promise<void> {
    if (this.#isTenantInDoubt) this.#checkTenant(logs);
    await this.#wholly(() => this.#pending.add(logs));
  }

  #checkTenant(logs: readonly Log[]): void {
    const { tenantId } = this.#options;
    const found = logs.flatMap(({ tenant_id: id }) => id ?? []);
    const other = found.find((id) => id !== tenantId);
    this.#isTenantInDoubt = !found.includes(tenantId);
    if (this.#isTenantInDoubt && other !== undefined) throw otherTenant(this.#store, tenantId, other);
  }

  /**
   * Commits all entries taken. `standing` must cover exactly these and all before. Nothing is written where nothing
   * is new.
   * @throws SvcError `conflict` when another writer was faster, `local`
   */
  async commit(tailStanding: TailPosition): Promise<void> {
    const standing = settledBefore(tailStanding, this.#gapTo);
    if (this.#pending.entries === 0 && standing.readTo <= this.#standing.readTo) return;
    await this.#wholly(() => this.#commit(standing));
  }

  async #commit(standing: TailPosition): Promise<void> {
    const pending = this.#pending;
    this.#pending = this.#newPending(standing.readTo);
    const segments: Segment[] = [];
    for (const closed of await pending.close())
      segments.push(await storeSegment(this.#store, this.#end.next, closed));
    const readTo = Math.max(standing.readTo, this.#readFrom);
    const stretch = { read_from: isoTime(this.#readFrom), read_to: isoTime(readTo) };
    await this.#append(
      { kind: 'segments', segments, ...stretch, ...this.#now(standing) },
      standing,
      segments,
    );
    this.#readFrom = readTo;
    this.written.entries += pending.entries;
    for (const count of ['late', 'shared', 'timeless', 'raw', 'cardNumbers'] as const)
      this.written[count] += pending[count];
    this.written.segments += segments.length;
  }

  /** Commits a gap: entries of this stretch of time may be missing. All entries taken must be committed. */
  async commitGap(gap: TimeRange): Promise<void> {
    this.#gapTo = gap.to;
    const standing = settledBefore(this.#standing, gap.to);
    const stretch = { from: isoTime(gap.from), to: isoTime(gap.to) };
    await this.#wholly(() => this.#append({ kind: 'gap', ...stretch, ...this.#now(standing) }, standing));
    this.beginAt(gap.to);
    this.written.gaps.push(gap);
  }

  /** For an archive that has just begun: what it holds begins here, and not before. */
  beginAt(time: number): void {
    this.#readFrom = Math.max(this.#readFrom, time);
  }

  /** Whether all that it was to do went well. If not, nothing more is committed: the next run goes on. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  async #wholly(work: () => Promise<void>): Promise<void> {
    if (!this.#isWhole) throw new SvcError('bug', 'a writer that failed was to go on');
    this.#isWhole = false;
    const pending = this.#pending;
    try {
      await work();
    } catch (error) {
      pending.abandon();
      throw error;
    }
    this.#isWhole = true;
  }

  #newPending(committedTo = this.#standing.readTo): Pending {
    const { tenantId, limits = LIMITS } = this.#options;
    return new Pending(this.#store.workDirectory, tenantId, committedTo, limits);
  }

  async #append(draft: Draft, standing: TailPosition, segments: readonly Segment[] = []): Promise<void> {
    await this.#end.append(draft, segments);
    this.#standing = standing;
  }

  #now(standing: TailPosition) {
    return { written_at: isoTime(this.#options.now()), standing: toStored(standing) };
  }
}
