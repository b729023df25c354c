import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Draft, sha256Of } from '../../base/files/draft.ts';
import { holdsCardNumber } from '../../cli/output/formats.ts';
import { type Finding, readRecords } from './chain.ts';
import { Coverage, isoRange } from './coverage.ts';
import { text as README } from './evidence.md';
import { text as SCRIPT } from './evidence.sh';
import { type Bounds, noArchive } from './manifest.ts';
import { readLines } from './read-segment.ts';
import {
  type BeginRecord,
  damaged,
  dayIn,
  dayOf,
  type DropRecord,
  type Link,
  type Segment,
  UNKNOWN_DAY,
} from './record.ts';
import type { ArchiveStore } from './store.ts';
import type { Verified } from './verify.ts';

/** What goes into a bundle: the chain from its beginning, and the files of whole days (UTC, as dates). */
export interface EvidencePlan {
  readonly first: BeginRecord;
  readonly last: Link;
  readonly from: string;
  readonly to: string;
  readonly records: readonly Pick<Link, 'path' | 'sha256'>[];
  readonly segments: readonly Segment[];
  readonly entries: number;
  /** As these records say, which may be newer than those that were verified. */
  readonly coverage: Coverage;
}

/** Chooses what goes into a bundle. @throws SvcError as `readManifest` */
export async function planEvidence(store: ArchiveStore, { since, until }: Bounds): Promise<EvidencePlan> {
  let from = since === undefined ? '0000-01-01' : dayOf(since);
  const to = until === undefined ? '9999-12-31' : dayOf(until - 1);
  const records: Pick<Link, 'path' | 'sha256'>[] = [];
  let segments: Segment[] = [];
  const coverage = new Coverage();
  let first: BeginRecord | undefined;
  let last: Link | undefined;
  for await (const link of readRecords(store)) {
    last = link;
    const { record, path, sha256 } = link;
    records.push({ path, sha256 });
    coverage.add(record);
    if (record.kind === 'begin') first = record;
    if (record.kind === 'segments')
      segments.push(...record.segments.filter(({ path: at }) => isOf(dayIn(at), from, to)));
    if (record.kind !== 'dropped') continue;
    // Later entries of these months are left out too, so that the days alone say what is in the bundle.
    const kept = record.before.slice(0, 10);
    if (kept > from) from = kept;
  }
  if (first === undefined || last === undefined) throw await noArchive(store);
  segments = segments.filter(({ path }) => isOf(dayIn(path), from, to));
  const days = segments
    .map(({ path }) => dayIn(path))
    .filter((day) => day !== UNKNOWN_DAY)
    .toSorted();
  const earliest = days[0] ?? from;
  const latest = days.at(-1) ?? to;
  const range = { from: since === undefined ? earliest : from, to: until === undefined ? latest : to };
  const entries = segments.reduce((sum, segment) => sum + segment.entries, 0);
  return { first, last, ...range, records, segments, entries, coverage };
}

function isOf(day: string, from: string, to: string): boolean {
  return day === UNKNOWN_DAY || (day >= from && day <= to);
}

export interface EvidenceOptions {
  readonly verified: Verified;
  readonly problems: readonly Finding[];
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

/** What the auditor has to know of a bundle. */
export interface WrittenEvidence {
  /** The hash of `SHA256SUMS`, which lists every other file: it proves the whole bundle. */
  readonly sumsSha256: string;
  /** How many entries contain what looks like a card number. */
  readonly cardNumbers: number;
}

/**
 * Writes a bundle: the same archive, days and problems give the same bytes.
 * @throws SvcError `checksum_mismatch` where a file for it is not as it was written
 */
export async function writeEvidence(
  store: ArchiveStore,
  plan: EvidencePlan,
  draft: Draft,
  options: EvidenceOptions,
): Promise<WrittenEvidence> {
  const texts = textsOf(plan, options);
  const files = new BundleFiles(store, plan, options);
  const tar = tarOf(files.read(texts), Date.parse(plan.last.record.written_at));
  await pipeline(
    Readable.from(tar, { objectMode: false }),
    createGzip(),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await draft.write(chunk);
    },
    { signal: options.signal },
  );
  return { sumsSha256: sha256Of(texts.SHA256SUMS), cardNumbers: files.cardNumbers };
}

/** The texts of a bundle by their names. `SHA256SUMS` comes last, as it lists all other files. */
function textsOf(plan: EvidencePlan, options: EvidenceOptions) {
  const script = SCRIPT.replace('@README@', sha256Of(README));
  const texts = { 'README.md': README, 'evidence.json': describe(plan, options), 'verify.sh': script };
  const sums = [
    ...Object.entries(texts).map(([path, text]) => `${sha256Of(text)}  ${path}\n`),
    ...[...plan.records, ...plan.segments].map(({ path, sha256 }) => `${sha256}  ${path}\n`),
  ];
  return { ...texts, SHA256SUMS: sums.join('') };
}

/** Reads what goes into a bundle, and counts the entries that contain card numbers. */
class BundleFiles {
  cardNumbers = 0;
  readonly #store: ArchiveStore;
  readonly #plan: EvidencePlan;
  readonly #options: EvidenceOptions;

  constructor(store: ArchiveStore, plan: EvidencePlan, options: EvidenceOptions) {
    this.#store = store;
    this.#plan = plan;
    this.#options = options;
  }

  /** @throws SvcError `checksum_mismatch` where a file is not as it was written */
  async *read(texts: Readonly<Record<string, string>>): AsyncGenerator<TarFile> {
    for (const [path, text] of Object.entries(texts)) yield textFile(path, text);
    for (const { path, sha256 } of this.#plan.records) {
      const text = (await this.#store.readText(path)) ?? '';
      if (sha256Of(text) !== sha256) throw damaged(path, 'it was changed meanwhile');
      yield textFile(path, text);
    }
    for (const segment of this.#plan.segments) {
      const { path, bytes } = segment;
      await this.#countCardNumbers(segment);
      yield { path: FOLDER + path, bytes, content: checked(this.#store, segment, this.#options.onBytes) };
    }
  }

  async #countCardNumbers(segment: Segment): Promise<void> {
    for await (const block of readLines(this.#store, segment, { signal: this.#options.signal })) {
      const lines = block.toString().split('\n');
      for (const line of lines) if (holdsCardNumber(line)) this.cardNumbers += 1;
    }
  }
}

const FOLDER = 'evidence/';

function textFile(path: string, text: string): TarFile {
  const content = Buffer.from(text);
  return { path: FOLDER + path, bytes: content.length, content: [content] };
}

async function* checked(store: ArchiveStore, { path, bytes, sha256 }: Segment, onBytes: (bytes: number) => void) {
  const hash = createHash('sha256');
  let read = 0;
  for await (const piece of store.read(path)) {
    hash.update(piece);
    onBytes(piece.byteLength);
    read += piece.byteLength;
    if (read <= bytes) yield piece;
  }
  if (read !== bytes || hash.digest('hex') !== sha256) throw damaged(path, 'it is not the file that was written');
}

/**
 * What a bundle says of itself and of the archive, without the time at which it was made. The script derives all but
 * `verified` from the records, in this order of members.
 */
function describe({ first, last, from, to, ...plan }: EvidencePlan, { verified, problems }: EvidenceOptions): string {
  const { coverage } = plan;
  const { records, segments, entries, bytes, sha256 } = verified;
  const description = {
    version: 1,
    service: first.service,
    tenant_id: first.tenant_id,
    from,
    to,
    record: last.record.sequence,
    sha256: last.sha256,
    records: plan.records.length,
    segments: plan.segments.length,
    entries: plan.entries,
    covered: coverage.covered().map(isoRange),
    gaps: coverage.gaps().map(isoRange),
    dropped: coverage.drops.map(dropOf),
    verified: { records, segments, entries, bytes, sha256, problems },
  };
  return `${JSON.stringify(description, undefined, 2)}\n`;
}

/** A record of dropped months without members that only a newer svc knows. */
function dropOf({ before, written_at: at, by, months }: DropRecord) {
  const known = months.map(({ month, segments, entries, bytes }) => ({ month, segments, entries, bytes }));
  return { before, written_at: at, by, months: known };
}

/** A file in a tar archive. Its content must have exactly the size that is given. */
export interface TarFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
const MAX_NAME = 100;
const MAX_PREFIX = 155;

/** A tar archive (ustar) of files in their order: the same files and time (epoch milliseconds) give the same bytes. */
async function* tarOf(files: AsyncIterable<TarFile>, time: number): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes, content } of files) {
    yield* namedHeader(path, bytes, time);
    yield* content;
    yield padding(bytes);
  }
  yield new Uint8Array(2 * BLOCK);
}

/** A path that does not fit the header goes before it, as a record of its own (pax). */
function* namedHeader(path: string, bytes: number, time: number): Generator<Uint8Array> {
  const split = splitPath(path);
  if (split) return yield header(split, { type: '0', bytes, time });
  const record = Buffer.from(paxRecord(path));
  yield header(['', 'pax'], { type: 'x', bytes: record.length, time });
  yield record;
  yield padding(record.length);
  yield header(['', path.slice(-MAX_NAME)], { type: '0', bytes, time });
}

/** The folder and the name for a header; undefined where they do not fit. */
function splitPath(path: string): readonly [prefix: string, name: string] | undefined {
  if (path.length <= MAX_NAME) return ['', path];
  const at = path.indexOf('/', path.length - MAX_NAME - 1);
  return at < 0 || at > MAX_PREFIX ? undefined : [path.slice(0, at), path.slice(at + 1)];
}

// Its length counts itself.
function paxRecord(path: string): string {
  const rest = ` path=${path}\n`;
  const digits = String(rest.length + String(rest.length).length).length;
  return `${rest.length + digits}${rest}`;
}

interface Entry {
  readonly type: '0' | 'x';
  readonly bytes: number;
  readonly time: number;
}

function header([prefix, name]: readonly [string, string], { type, bytes, time }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7) + octal(0, 7), 108);
  block.write(octal(bytes, 11), 124);
  block.write(octal(Math.floor(time / 1000), 11), 136);
  block.write(`        ${type}`, 148);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

function padding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK - (bytes % BLOCK)) % BLOCK);
}
