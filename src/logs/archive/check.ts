import { isSvcError } from '../../errors.ts';
import { sha256Of } from '../../files/hash.ts';
import type { Log } from '../../schema/log.ts';
import { findText, headText, parseHead, recordTexts, type TextFound } from './chain.ts';
import {
  dayOf,
  entryTime,
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

/** What is known of a record even where it is unreadable: its number and the hash of its bytes. */
export interface ChainState {
  readonly sequence: number;
  readonly sha256: string;
}

/**
 * Checks all records without stopping at the first problem. Gives every readable record and all problems; returns the
 * newest record, or undefined where there is none.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function* checkChain(store: ArchiveStore): AsyncGenerator<ChainItem, ChainState | undefined> {
  // Before the records, so that a concurrent writer does not put it ahead of them.
  const head = await findText(store, HEAD);
  const named = head.text === undefined ? undefined : parseHead(head.text);
  let namedHash: string | undefined;
  let last: ChainState | undefined;
  for await (const { path, sequence, text, problem } of recordTexts(store)) {
    if (sequence === undefined) {
      if (path !== HEAD && !isHidden(path)) yield found('unlisted', path, 'it is not a record');
      continue;
    }
    if (text === undefined && problem === undefined) continue;
    yield* missingBetween(last, sequence);
    const now = { sequence, sha256: sha256Of(text ?? '') };
    if (problem !== undefined) yield found('damaged', path, problem);
    else yield* checkRecord(text ?? '', path, now, last);
    if (sequence === named?.sequence) namedHash = now.sha256;
    last = now;
  }
  yield* checkHead(head, namedHash, last);
  return last;
}

/** Whether a file does not belong to the archive: its name, or that of a folder above it, begins with a dot. */
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
    yield found('unfit', path, `a ${kind} record cannot be here`);
  if (now.sequence === 0 ? previous !== null : isUnchained(previous, now, last))
    yield found('changed', path, 'it does not chain: it was changed, or the record before it');
  yield { link };
}

// Nothing is known behind a missing record.
function isUnchained(previous: string | null, now: ChainState, last: ChainState | undefined): boolean {
  return last?.sequence === now.sequence - 1 && previous !== last.sha256;
}

function* missingBetween(last: ChainState | undefined, sequence: number): Generator<ChainItem> {
  const due = last === undefined ? 0 : last.sequence + 1;
  if (sequence > due) yield missing(due, sequence - 1);
}

// After a crash between a commit and its update the head lags behind, but it is never ahead.
function* checkHead(
  { text, problem }: TextFound,
  namedHash: string | undefined,
  last: ChainState | undefined,
): Generator<ChainItem> {
  const head = text === undefined ? undefined : parseHead(text);
  const due = last === undefined ? 0 : last.sequence + 1;
  if (problem !== undefined) yield found('damaged', HEAD, problem);
  else if (text === undefined) {
    if (due > 1) yield found('missing', HEAD, 'it is missing; the next commit to the archive recreates it');
  } else if (head === undefined) yield found('damaged', HEAD, 'it names no record');
  else if (head.sequence >= due) yield missing(due, head.sequence);
  else if (namedHash !== head.sha256) {
    const words = `it was changed, or ${HEAD}, which names another hash of it`;
    yield found('changed', recordPath(head.sequence), words);
  } else if (text !== headText(head)) yield found('changed', HEAD, 'it was changed');
}

function missing(from: number, to: number): ChainItem {
  if (from === to) return found('missing', recordPath(from), 'it is missing');
  return found(
    'missing',
    recordPath(from),
    `it is missing, and all ${to - from} records up to ${recordPath(to)}`,
  );
}

function found(problem: Problem, path: string, message: string): ChainItem {
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
  else if (file.irregular !== undefined)
    add('changed', `it is ${file.irregular}, not the file that was written`);
  else if (file.bytes !== segment.bytes)
    add(
      file.bytes < segment.bytes ? 'cut' : 'grown',
      `it has ${file.bytes} bytes, and ${segment.bytes} were written`,
    );
  else await checkContent(store, segment, { tenantId, add, options });
  return findings;
}

interface ContentCheck {
  readonly tenantId: string | undefined;
  readonly add: (problem: Problem, message: string) => void;
  readonly options: ReadSegmentOptions;
}

async function checkContent(
  store: ArchiveStore,
  segment: Segment,
  { tenantId, add, options }: ContentCheck,
): Promise<void> {
  const content = new Content(segment, tenantId);
  try {
    for await (const batch of readSegment(store, segment, options)) content.add(batch);
  } catch (error) {
    if (isSvcError(error, 'not_found')) return add('missing', 'it is missing');
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return add('changed', error.message.replace(`${segment.path} was changed: `, ''));
  }
  for (const problem of content.problems()) add('unfit', problem);
}

const FOLDERS = /^tenant=[^/]+\/date=[^/]+\/[^/]+$/;

/** Compares the entries of a segment with what its record says of them. */
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

/** A kind of problem. */
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
  /** It is unreadable. */
  | 'damaged'
  /** It contradicts its record or its position. */
  | 'unfit'
  /** The chain holds no record with the expected hash. */
  | 'rewritten';

/** One problem of an archive. */
export interface Finding {
  readonly problem: Problem;
  readonly path: string;
  readonly message: string;
}
