import { isSvcError } from '../../errors.ts';
import type { Log } from '../../schema/log.ts';
import { findText, headText, parseHead, recordTexts, type TextFound } from './chain.ts';
import {
  dayOf,
  entryTime,
  hashOf,
  HEAD,
  isRawSegment,
  type Link,
  parseRecord,
  recordPath,
  type Segment,
  segmentName,
  tenantFolder,
} from './record.ts';
import { readSegment, type ReadSegmentOptions } from './segment.ts';
import type { ArchiveStore, StoredFile } from './store.ts';

/** What checking a chain meets, in order. */
export type ChainItem = { readonly link: Link } | { readonly finding: Finding };

/** A record as far as it is known even where it cannot be read: its number and the hash of its bytes. */
export interface ChainState {
  readonly sequence: number;
  readonly sha256: string;
}

/**
 * Goes through all records and does not stop at the first that is wrong. Gives every record that can be read and all
 * that does not fit; returns the newest record, or undefined where there is none.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function* checkChain(store: ArchiveStore): AsyncGenerator<ChainItem, ChainState | undefined> {
  // Before the records, so that what a writer adds meanwhile does not put it ahead of them.
  const head = await findText(store, HEAD);
  const named = head.text === undefined ? undefined : parseHead(head.text);
  let namedHash: string | undefined;
  let last: ChainState | undefined;
  for await (const { path, sequence, text, problem } of recordTexts(store)) {
    if (sequence === undefined) {
      if (path !== HEAD && !isHidden(path)) yield found('unlisted', path, 'it is no record');
      continue;
    }
    if (text === undefined && problem === undefined) continue;
    yield* missingBetween(last, sequence);
    const now = { sequence, sha256: hashOf(text ?? '') };
    if (problem !== undefined) yield found('damaged', path, problem);
    else yield* checkRecord(text ?? '', path, now, last);
    if (sequence === named?.sequence) namedHash = now.sha256;
    last = now;
  }
  yield* checkHead(head, namedHash, last);
  return last;
}

/** Whether a file is none of ours: its name, or that of a folder around it, begins with a dot. */
export function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

function* checkRecord(
  text: string,
  path: string,
  now: ChainState,
  last: ChainState | undefined,
): Generator<ChainItem> {
  let link: Link;
  try {
    link = parseRecord(text, path);
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    yield found('damaged', path, error.message.replace(`${path} is damaged: `, ''));
    return;
  }
  const { sequence, previous, kind } = link.record;
  if (sequence !== now.sequence) yield found('unfit', path, `it says that it is record ${sequence}`);
  if ((kind === 'begin') !== (now.sequence === 0))
    yield found('unfit', path, `a ${kind} record cannot stand here`);
  if (now.sequence === 0 ? previous !== null : isUnchained(previous, now, last))
    yield found('changed', path, 'it does not chain: it was changed, or the record before it');
  yield { link };
}

// Behind a record that is missing nothing can be said.
function isUnchained(previous: string | null, now: ChainState, last: ChainState | undefined): boolean {
  return last?.sequence === now.sequence - 1 && previous !== last.sha256;
}

function* missingBetween(last: ChainState | undefined, sequence: number): Generator<ChainItem> {
  const due = last === undefined ? 0 : last.sequence + 1;
  if (sequence > due) yield missing(due, sequence - 1);
}

// The head may lag behind, as it does after a crash between a commit and its update, but never be ahead.
function* checkHead(
  { text, problem }: TextFound,
  namedHash: string | undefined,
  last: ChainState | undefined,
): Generator<ChainItem> {
  const head = text === undefined ? undefined : parseHead(text);
  const due = last === undefined ? 0 : last.sequence + 1;
  if (problem !== undefined) yield found('damaged', HEAD, problem);
  else if (text === undefined) {
    if (due > 1)
      yield found('missing', HEAD, "it is missing; the next commit of 'svc logs archive' recreates it");
  } else if (head === undefined) yield found('damaged', HEAD, 'it names no record');
  else if (head.sequence >= due) yield missing(due, head.sequence);
  else if (namedHash !== head.sha256) {
    const words = `it was changed, or ${HEAD}, which names another hash of it`;
    yield found('changed', recordPath(head.sequence), words);
  } else if (text !== headText(head)) yield found('changed', HEAD, 'it is not as it was written');
}

function missing(from: number, to: number): ChainItem {
  if (from === to) return found('missing', recordPath(from), 'it is missing');
  return found(
    'missing',
    recordPath(from),
    `it is missing, and all ${to - from} records up to ${recordPath(to)}`,
  );
}

function found(problem: Finding['problem'], path: string, message: string): ChainItem {
  return { finding: { problem, path, message } };
}

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
  const misnamed = isNamed ? [] : [segmentFinding('unfit', path, `it should be called ${name}`)];
  if (file === undefined) return [...misnamed, segmentFinding('missing', path, 'it is missing')];
  const { bytes, irregular } = file;
  if (irregular !== undefined)
    return [
      ...misnamed,
      segmentFinding('changed', path, `it is ${irregular}, and not the file that was written`),
    ];
  if (bytes !== segment.bytes) {
    const words = `it has ${bytes} bytes, and ${segment.bytes} were written`;
    return [...misnamed, segmentFinding(bytes < segment.bytes ? 'cut' : 'grown', path, words)];
  }
  const content = new Content(segment, tenantId);
  try {
    for await (const batch of readSegment(store, segment, options)) content.add(batch);
  } catch (error) {
    if (isSvcError(error, 'not_found'))
      return [...misnamed, segmentFinding('missing', path, 'it is missing')];
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return [...misnamed, segmentFinding('changed', path, error.message.replace(`${path} was changed: `, ''))];
  }
  return [...misnamed, ...content.problems().map((words) => segmentFinding('unfit', path, words))];
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

function segmentFinding(problem: Finding['problem'], path: string, message: string): Finding {
  return { problem, path, message };
}

/** What is wrong with a part of an archive. */
export type Problem =
  /** Its bytes are not those that were written. */
  | 'changed'
  /** It is shorter, or longer, than what was written. */
  | 'cut'
  | 'grown'
  /** It was written and is gone. */
  | 'missing'
  /** No record lists it. */
  | 'unlisted'
  /** It cannot be read as what it should be. */
  | 'damaged'
  /** It says something else than what it stands for. */
  | 'unfit'
  /** The chain holds no record of the hash that was asked for. */
  | 'rewritten';

/** One thing that is wrong with an archive, and where. */
export interface Finding {
  readonly problem: Problem;
  readonly path: string;
  /** What was found there, for people. */
  readonly message: string;
}
