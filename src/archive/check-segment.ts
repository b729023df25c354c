import { isSvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { dayOf, entryTime, tenantFolder } from './entry-day.ts';
import type { Finding } from './finding.ts';
import { readSegment, type ReadSegmentOptions } from './read-segment.ts';
import { isRawSegment, type Segment, segmentName } from './record.ts';
import type { ArchiveStore, StoredFile } from './store.ts';

/** A segment with the record that lists it. */
export interface Listed {
  readonly segment: Segment;
  readonly sequence: number;
  /** The tenant of the archive, whose entries need not name it; undefined where that cannot be read. */
  readonly tenantId: string | undefined;
  /** Its file; undefined where there is none. */
  readonly file: Pick<StoredFile, 'bytes' | 'irregular'> | undefined;
}

/** All that is wrong with a segment: its bytes, then what they say. @throws SvcError `local` */
export async function checkSegment(
  store: ArchiveStore,
  { segment, sequence, tenantId, file }: Listed,
  options: ReadSegmentOptions,
): Promise<Finding[]> {
  const { path } = segment;
  const name = segmentName(sequence, segment.sha256, isRawSegment(segment));
  const isNamed = path.endsWith(`/${name}`) && FOLDERS.test(path);
  const misnamed = isNamed ? [] : [found('unfit', path, `it should be called ${name}`)];
  if (file === undefined) return [...misnamed, found('missing', path, 'it is missing')];
  const { bytes, irregular } = file;
  if (irregular !== undefined)
    return [...misnamed, found('changed', path, `it is ${irregular}, and not the file that was written`)];
  if (bytes !== segment.bytes) {
    const words = `it has ${bytes} bytes, and ${segment.bytes} were written`;
    return [...misnamed, found(bytes < segment.bytes ? 'cut' : 'grown', path, words)];
  }
  const content = new Content(segment, tenantId);
  try {
    for await (const batch of readSegment(store, segment, options)) content.add(batch);
  } catch (error) {
    if (isSvcError(error, 'not_found')) return [...misnamed, found('missing', path, 'it is missing')];
    if (!isSvcError(error, 'altered')) throw error;
    return [...misnamed, found('changed', path, error.message.replace(`${path} was changed: `, ''))];
  }
  return [...misnamed, ...content.problems().map((words) => found('unfit', path, words))];
}

const FOLDERS = /^tenant=[^/]+\/date=[^/]+\/[^/]+$/;

/** What the entries of a segment say of themselves, held against what is said of them. */
class Content {
  readonly #segment: Segment;
  readonly #day: string;
  readonly #folder: string;
  readonly #tenantId: string | undefined;
  #foreign = 0;
  #first = Infinity;
  #last = -Infinity;
  #elsewhere = 0;
  #disorder = 0;

  constructor(segment: Segment, tenantId: string | undefined) {
    this.#segment = segment;
    this.#tenantId = tenantId;
    this.#folder = segment.path.split('/', 1).join('');
    this.#day = /\/date=([^/]+)\//.exec(segment.path)?.[1] ?? '';
  }

  add(batch: readonly Log[]): void {
    for (const { created_at, tenant_id } of batch) {
      const tenantId = tenant_id ?? this.#tenantId;
      if (tenantId !== undefined && tenantFolder(tenantId) !== this.#folder) this.#foreign += 1;
      const at = entryTime({ created_at });
      if (dayOf(at) !== this.#day) this.#elsewhere += 1;
      if (at === undefined) continue;
      if (at < this.#last) this.#disorder += 1;
      this.#first = Math.min(this.#first, at);
      this.#last = Math.max(this.#last, at);
    }
  }

  problems(): string[] {
    const { first, last } = this.#segment;
    const isFramed = timeOf(first, Infinity) === this.#first && timeOf(last, -Infinity) === this.#last;
    return [
      ...(this.#foreign === 0 ? [] : [`${this.#foreign} of its entries are of another tenant`]),
      ...(isFramed ? [] : ['its first and last entry are not of the times in the manifest']),
      ...(this.#elsewhere === 0 ? [] : [`${this.#elsewhere} of its entries are of another day`]),
      ...(this.#disorder === 0 ? [] : [`${this.#disorder} of its entries are not in order of time`]),
    ];
  }
}

function timeOf(time: string | null, otherwise: number): number {
  return time === null ? otherwise : Date.parse(time);
}

function found(problem: Finding['problem'], path: string, message: string): Finding {
  return { problem, path, message };
}
