// Checks a segment for `svc logs verify`: its bytes, its entries, and its index.

import { isSvcError } from '../../base/errors.ts';
import { parseTime } from '../../cli/output/time.ts';
import { formatNumber } from '../../cli/output/number.ts';
import type { Store, StoredFile } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { holdsAt, LineClock, LineScanner, type ScannedMember } from '../archive/line-scanner.ts';
import { readLines, type ReadSegmentOptions } from '../archive/read-segment.ts';
import type { Finding, Problem } from '../archive/records/chain.ts';
import {
  dayIn,
  dayOf,
  entryTime,
  isRawSegment,
  MISSING,
  type Segment,
  segmentName,
  tenantFolder,
  UNKNOWN_DAY,
  withinYears,
} from '../archive/records/record.ts';
import { keyAt, keyOfId, readIndex, SegmentIndex } from '../archive/segment-index.ts';

export interface ListedSegment {
  readonly segment: Segment;
  readonly sequence: number;
  /** The tenant of the archive, assumed for entries without a tenant; undefined if the first record is unreadable. */
  readonly tenantId: string | undefined;
  readonly file: Pick<StoredFile, 'bytes' | 'irregular'> | undefined;
}

interface CheckOptions extends ReadSegmentOptions {
  /** Compares only names and sizes, without reading the file. */
  readonly isListedOnly?: boolean | undefined;
  /** Called with a segment whose index is damaged, or rules out one of its entries. */
  readonly onOtherIndex?: ((segment: Segment) => void) | undefined;
}

/** Returns all problems of a segment: first of its file, then of its entries. @throws SvcError `local` */
export async function checkSegment(
  store: Store,
  { segment, sequence, tenantId, file }: ListedSegment,
  options: CheckOptions,
): Promise<Finding[]> {
  const { path } = segment;
  const name = segmentName(sequence, segment.sha256, isRawSegment(segment));
  const findings: Finding[] = [];
  const add = (problem: Problem, message: string): void => void findings.push({ problem, path, message });
  if (!path.endsWith(`/${name}`) || !FOLDERS.test(path)) add('unfit', `its name should be ${name}`);
  if (file === undefined) add('missing', MISSING);
  else if (file.irregular !== undefined) add('changed', `it is ${file.irregular}, not the file that was written`);
  else if (file.bytes !== segment.bytes)
    add(
      file.bytes < segment.bytes ? 'cut' : 'grown',
      `${formatNumber(file.bytes)} bytes; ${formatNumber(segment.bytes)} were archived`,
    );
  else if (options.isListedOnly !== true) {
    const problems = await checkContent(store, { segment, tenantId }, options);
    for (const [problem, message] of problems) add(problem, message);
  }
  return findings;
}

async function checkContent(
  store: Store,
  { segment, tenantId }: Pick<ListedSegment, 'segment' | 'tenantId'>,
  options: CheckOptions,
): Promise<(readonly [Problem, string])[]> {
  const index = await IndexCheck.of(store, segment);
  const content = new SegmentContent(segment, tenantId, index);
  try {
    for await (const block of readLines(store, segment, options)) content.add(block);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    const message = error.message.replace(`${segment.path} was changed: `, '');
    return [[message === MISSING ? 'missing' : 'changed', message]];
  }
  if (index?.isSame() === false) options.onOtherIndex?.(segment);
  return content.problems().map((words) => ['unfit', words]);
}

const FOLDERS = /^tenant=[^/]+\/date=[^/]+\/[^/]+$/;

/** Checks the entries of a segment by the bytes of their lines. Only lines with unusual JSON are parsed. */
class SegmentContent {
  readonly #segment: Segment;
  readonly #index: IndexCheck | undefined;
  readonly #scanner = new LineScanner();
  readonly #time = this.#scanner.member('created_at');
  readonly #tenantOfLine = this.#scanner.member('tenant_id');
  readonly #entityId = this.#scanner.member('entity_id');
  readonly #actorId = this.#scanner.member('actor_id');
  readonly #clock = new LineClock();
  readonly #day: string;
  /** The beginning of the segment's day; NaN for entries without a readable time. */
  readonly #begin: number;
  readonly #folder: string;
  readonly #tenantId: string | undefined;
  /** The tenant of the previous line, and whether its entries belong into another folder. */
  #tenant: Buffer | undefined;
  #isForeign = false;
  #foreign = 0;
  #first = Infinity;
  #last = -Infinity;
  #elsewhere = 0;
  #disorder = 0;

  constructor(segment: Segment, tenantId: string | undefined, index: IndexCheck | undefined) {
    this.#index = index;
    this.#segment = segment;
    this.#tenantId = tenantId;
    this.#folder = segment.path.split('/', 1).join('');
    this.#day = dayIn(segment.path);
    const begin = parseTime(`${this.#day}T00:00:00Z`);
    this.#begin = begin !== undefined && dayOf(begin) === this.#day ? begin : Number.NaN;
  }

  /** Checks a block of complete lines. @throws SvcError `checksum_mismatch` for a line that is not an entry */
  add(block: Buffer): void {
    this.#scanner.read(block, this.#segment.path, (log) => {
      if (log === undefined) {
        const { start, end } = this.#time;
        const time = start === -1 ? undefined : withinYears(this.#clock.read(block, start, end));
        this.#take(time, this.#isForeignAt(block, this.#tenantOfLine));
        if (this.#index) this.#index.add(keyAt(block, this.#entityId), keyAt(block, this.#actorId));
      } else {
        this.#take(entryTime(log), this.#isOther(log.tenant_id ?? this.#tenantId));
        this.#index?.add(keyOfId(log.entity_id), keyOfId(log.actor_id));
      }
    });
  }

  #take(at: number | undefined, isForeign: boolean): void {
    if (isForeign) this.#foreign += 1;
    const isOfDay = at === undefined ? this.#day === UNKNOWN_DAY : at >= this.#begin && at < this.#begin + DAY_MS;
    if (!isOfDay) this.#elsewhere += 1;
    if (at === undefined) return;
    if (at < this.#last) this.#disorder += 1;
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
  }

  #isForeignAt(block: Buffer, { start, end }: ScannedMember): boolean {
    if (start === -1) return this.#isOther(this.#tenantId);
    if (this.#tenant?.length === end - start && holdsAt(block, start, this.#tenant)) return this.#isForeign;
    this.#tenant = Buffer.from(block.subarray(start, end));
    this.#isForeign = this.#isOther(this.#tenant.toString());
    return this.#isForeign;
  }

  #isOther(tenantId: string | undefined): boolean {
    return tenantId !== undefined && tenantFolder(tenantId) !== this.#folder;
  }

  problems(): string[] {
    const { first, last } = this.#segment;
    const isFramed = timeOf(first, Infinity) === this.#first && timeOf(last, -Infinity) === this.#last;
    const counted = [
      [this.#foreign, 'are of another tenant'],
      [this.#elsewhere, 'are of another day'],
      [this.#disorder, 'are not in order of time'],
    ] as const;
    return [
      ...(isFramed ? [] : ['its first and last entry are not of the times in the manifest']),
      ...counted.flatMap(([count, words]) => (count === 0 ? [] : [`${count} of its entries ${words}`])),
    ];
  }
}

function timeOf(time: string | null, otherwise: number): number {
  return time === null ? otherwise : Date.parse(time);
}

/** Compares the index beside a segment with the entries, which are added in order: it must rule out none of their ids. */
class IndexCheck {
  readonly #index: SegmentIndex | undefined;
  #column = 0;
  #entries = 0;
  #isSame: boolean;

  /** Opens the index of a segment; undefined without one, which is no problem: a search makes it. */
  static async of(store: Store, segment: Segment): Promise<IndexCheck | undefined> {
    const bytes = isRawSegment(segment) ? undefined : await readIndex(store, segment);
    return bytes && new IndexCheck(SegmentIndex.of(bytes, segment));
  }

  private constructor(index: SegmentIndex | undefined) {
    this.#index = index;
    this.#isSame = index !== undefined;
  }

  /** Adds an entry by the keys of its ids. */
  add(entity: number | undefined, actor: number | undefined): void {
    const index = this.#index;
    if (index === undefined) return;
    if (entity !== undefined && !index.mayContain(this.#column, entity)) this.#isSame = false;
    if (actor !== undefined && !index.mayContain(this.#column, actor)) this.#isSame = false;
    this.#entries += 1;
    if (this.#entries !== index.columns[this.#column]?.[1]) return;
    this.#column += 1;
    this.#entries = 0;
  }

  /** Whether the index is of this segment and rules out no entry. Valid once all entries were added. */
  isSame(): boolean {
    return this.#isSame;
  }
}
