import { isSvcError } from '../../errors.ts';
import type { Log } from '../../schema/log.ts';
import type { Finding, Problem } from './chain.ts';
import { dayIn, dayOf, entryTime, isRawSegment, type Segment, segmentName, tenantFolder } from './record.ts';
import { readSegment, type ReadSegmentOptions } from './read-segment.ts';
import type { ArchiveStore, StoredFile } from './store.ts';

export interface Listed {
  readonly segment: Segment;
  readonly sequence: number;
  /** The tenant of the archive, whose entries need not name it; undefined where that cannot be read. */
  readonly tenantId: string | undefined;
  readonly file: Pick<StoredFile, 'bytes' | 'irregular'> | undefined;
}

/** All problems of a segment: of its bytes, then of its entries. @throws SvcError `local` */
export async function checkSegment(
  store: ArchiveStore,
  { segment, sequence, tenantId, file }: Listed,
  options: ReadSegmentOptions,
): Promise<Finding[]> {
  const { path } = segment;
  const name = segmentName(sequence, segment.sha256, isRawSegment(segment));
  const findings: Finding[] = [];
  const add = (problem: Problem, message: string): void => void findings.push({ problem, path, message });
  if (!path.endsWith(`/${name}`) || !FOLDERS.test(path)) add('unfit', `its name should be ${name}`);
  if (file === undefined) add('missing', 'it is missing');
  else if (file.irregular !== undefined) add('changed', `it is ${file.irregular}, not the file that was written`);
  else if (file.bytes !== segment.bytes)
    add(file.bytes < segment.bytes ? 'cut' : 'grown', `it has ${file.bytes} bytes, and ${segment.bytes} were written`);
  else
    for (const [problem, message] of await checkContent(store, { segment, tenantId }, options)) add(problem, message);
  return findings;
}

async function checkContent(
  store: ArchiveStore,
  { segment, tenantId }: Pick<Listed, 'segment' | 'tenantId'>,
  options: ReadSegmentOptions,
): Promise<(readonly [Problem, string])[]> {
  const content = new Content(segment, tenantId);
  try {
    for await (const batch of readSegment(store, segment, options)) content.add(batch);
  } catch (error) {
    if (isSvcError(error, 'not_found')) return [['missing', 'it is missing']];
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return [['changed', error.message.replace(`${segment.path} was changed: `, '')]];
  }
  return content.problems().map((words) => ['unfit', words]);
}

const FOLDERS = /^tenant=[^/]+\/date=[^/]+\/[^/]+$/;

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
    this.#day = dayIn(segment.path);
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
