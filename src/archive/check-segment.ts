import { isSvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { dayOf, entryTime } from './entry-day.ts';
import type { Finding } from './finding.ts';
import { readSegment, type ReadSegmentOptions } from './read-segment.ts';
import type { Segment } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** A segment with the record that lists it and the bytes that its file has; undefined where there is no file. */
export interface Listed {
  readonly segment: Segment;
  readonly sequence: number;
  readonly bytes: number | undefined;
}

/** All that is wrong with a segment: its bytes, then what they say. @throws SvcError `local` */
export async function checkSegment(
  store: ArchiveStore,
  { segment, sequence, bytes }: Listed,
  options: ReadSegmentOptions,
): Promise<Finding[]> {
  const { path } = segment;
  const name = `part-${String(sequence).padStart(8, '0')}-${segment.sha256.slice(0, 12)}.jsonl.gz`;
  const misnamed = path.endsWith(`/${name}`) ? [] : [found('unfit', path, `it should be called ${name}`)];
  if (bytes === undefined) return [...misnamed, found('missing', path, 'it is missing')];
  if (bytes !== segment.bytes) {
    const words = `it has ${bytes} bytes, and ${segment.bytes} were written`;
    return [...misnamed, found(bytes < segment.bytes ? 'cut' : 'grown', path, words)];
  }
  const content = new Content(segment);
  try {
    for await (const batch of readSegment(store, segment, options)) content.add(batch);
  } catch (error) {
    if (isSvcError(error, 'not_found')) return [...misnamed, found('missing', path, 'it is missing')];
    if (!isSvcError(error, 'altered')) throw error;
    return [...misnamed, found('changed', path, error.message.replace(`${path} was changed: `, ''))];
  }
  return [...misnamed, ...content.problems().map((words) => found('unfit', path, words))];
}

/** What the entries of a segment say of themselves, held against what is said of them. */
class Content {
  readonly #segment: Segment;
  readonly #day: string;
  #first = Infinity;
  #last = -Infinity;
  #elsewhere = 0;
  #disorder = 0;

  constructor(segment: Segment) {
    this.#segment = segment;
    this.#day = /\/date=([^/]+)\//.exec(segment.path)?.[1] ?? '';
  }

  add(batch: readonly Log[]): void {
    for (const { created_at } of batch) {
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
