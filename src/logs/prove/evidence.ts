// Selects and writes an evidence bundle for an auditor.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { SvcError } from '../../base/errors.ts';
import { type Draft, sha256Of } from '../../base/files/draft.ts';
import { jsonHasCardNumber } from '../../cli/output/formats.ts';
import { startOfDay } from '../../cli/output/time.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type Bounds, Contents, noArchive, sumOfEntries } from '../archive/manifest.ts';
import { readLines } from '../archive/read-segment.ts';
import { type Finding, readRecords } from '../archive/records/chain.ts';
import { type Coverage, isoRange, type TimeCoverage } from '../archive/records/coverage.ts';
import {
  type BeginRecord,
  damaged,
  dayIn,
  dayOf,
  type DropRecord,
  type Link,
  type Segment,
  UNKNOWN_DAY,
} from '../archive/records/record.ts';
import type { TimeRange } from '../entry.ts';
import { text as README } from './evidence.md';
import { text as SCRIPT } from './evidence.sh';
import type { Verified } from './verify.ts';

/** The content of a bundle: all records of the chain, and the files of complete days. Days are UTC dates. */
export interface EvidencePlan extends Pick<Contents, 'clocks' | 'coverage' | 'reviews' | 'segments'> {
  readonly first: BeginRecord;
  readonly last: Link;
  readonly from: string;
  readonly to: string;
  readonly records: readonly Pick<Link, 'path' | 'sha256'>[];
  readonly entries: number;
  /** The requested time, from the beginning of a day until the end of one, or until now, and how much of it is covered. */
  readonly requested: TimeCoverage;
  /** The segments of earlier days, which are not in the bundle. */
  readonly earlier: readonly Segment[];
}

/** Selects the content of a bundle. @throws SvcError as `readManifest`, `usage` for a time to come, `entries_missing` for dropped days */
export async function planEvidence(store: Store, request: Request): Promise<EvidencePlan> {
  const { since, until } = request;
  const records: Pick<Link, 'path' | 'sha256'>[] = [];
  const contents = new Contents();
  let last: Link | undefined;
  for await (const link of readRecords(store)) {
    last = link;
    records.push({ path: link.path, sha256: link.sha256 });
    contents.add(link.record, link.record.sequence);
  }
  const { first, coverage, clocks, reviews } = contents;
  if (first === undefined || last === undefined) throw await noArchive(store);
  // Late entries of dropped months are left out too, so that the content depends only on the days.
  const kept = coverage.drops.map(({ before }) => before.slice(0, 10));
  const from = [since === undefined ? '0000-01-01' : dayOf(since), ...kept].toSorted().at(-1) ?? '';
  const to = until === undefined ? '9999-12-31' : dayOf(until - 1);
  const segments = contents.segments.filter(({ path }) => isOf(dayIn(path), from, to));
  const earlier = contents.segments.filter(({ path }) => dayIn(path) < from);
  const requested = coverage.of(requestedTime(request, coverage));
  const range = { ...daysOf(requested, segments, from), requested };
  if (range.from > range.to) throw daysNotThere(store.name, range.from, requested);
  return {
    first,
    last,
    ...range,
    records,
    segments,
    entries: sumOfEntries(segments),
    coverage,
    earlier,
    reviews,
    clocks,
  };
}

/** The error for a time of which an archive has no day: it began later, or retention dropped all of them. */
function daysNotThere(archive: string, first: string, { missing }: TimeCoverage): SvcError {
  const isDropped = missing.some(({ reason }) => reason === 'dropped by retention');
  const why = isDropped ? 'retention dropped all of these days' : 'nothing of these days was archived';
  const bundle = isDropped ? ' A bundle from before the drop is the evidence of these days.' : '';
  return new SvcError('entries_missing', `${why}: ${archive} begins with ${first}`, {
    hint: `Nothing was written.${bundle} What the archive covers:`,
    next: ['logs', 'verify', archive, '--manifest-only'],
  });
}

/** The bounds that were typed, and the time of the request. */
interface Request extends Bounds {
  readonly now: number;
}

/** Returns the requested days as a time range; without options, the days of the archive. A day that is not over ends now. */
function requestedTime({ since, until, now }: Request, coverage: Coverage): TimeRange {
  const archived = coverage.whole();
  const end = Math.max(now, archived?.to ?? now);
  if (since !== undefined && since >= end)
    throw new SvcError('usage', 'the requested time is in the future', { hint: 'Choose an earlier one.' });
  const to = Math.min(until ?? (since === undefined ? archived?.to : undefined) ?? end, end);
  const from = since ?? Math.min(archived?.from ?? to, to - 1);
  return { from: startOfDay(from), to: Math.min(startOfDay(to - 1) + DAY_MS, end) };
}

/** Returns the first and the last day of a bundle: the requested days that retention kept, and days of entries with odd times. */
function daysOf({ from, to }: TimeRange, segments: readonly Segment[], kept: string) {
  const days = segments.map(({ path }) => dayIn(path)).filter((day) => day !== UNKNOWN_DAY);
  const sorted = [dayOf(from), dayOf(to - 1), ...days].toSorted();
  const [earliest = kept, latest = kept] = [sorted[0], sorted.at(-1)];
  return { from: earliest > kept ? earliest : kept, to: latest };
}

function isOf(day: string, from: string, to: string): boolean {
  return day === UNKNOWN_DAY || (day >= from && day <= to);
}

export interface EvidenceOptions {
  readonly verified: Verified;
  readonly problems: readonly Finding[];
  /** Further text files by their names, such as a page for people. */
  readonly texts: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

/** Facts about a bundle that the auditor needs besides the bundle. */
export interface WrittenEvidence {
  /** The hash of `SHA256SUMS`. It proves the whole bundle, because SHA256SUMS lists every other file. */
  readonly sumsSha256: string;
  /** The number of entries with what looks like a card number. */
  readonly cardNumbers: number;
}

/**
 * Writes a bundle. The same archive, days and problems result in the same bytes.
 * @throws SvcError `checksum_mismatch` if a file of the archive was changed, `local` if the bundle cannot be written
 */
export async function writeEvidence(
  store: Store,
  plan: EvidencePlan,
  draft: Draft,
  options: EvidenceOptions,
): Promise<WrittenEvidence> {
  const texts = textsOf(plan, options);
  const files = new BundleFiles(store, plan, options);
  const tar = await tarOf(files.read(texts), Date.parse(plan.last.record.written_at));
  let failure: unknown;
  const write = async (chunk: Buffer): Promise<void> => {
    await draft.write(chunk).catch((error: unknown) => {
      failure ??= error;
      throw error;
    });
  };
  await pipeline(
    tar,
    createGzip(),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await write(chunk);
    },
    { signal: options.signal },
  ).catch((error: unknown) => {
    options.signal.throwIfAborted();
    // A pipeline whose last function fails reports only that its input was aborted, not why the function failed.
    throw failure ?? error;
  });
  return { sumsSha256: sha256Of(texts.SHA256SUMS), cardNumbers: files.cardNumbers };
}

/** Returns the text files of a bundle by their names. `SHA256SUMS` is last, because it lists all other files. */
function textsOf(plan: EvidencePlan, options: EvidenceOptions) {
  const script = SCRIPT.replace('@README@', sha256Of(README));
  const statement = describe(plan, options);
  const texts = { 'README.md': README, 'evidence.json': statement, 'verify.sh': script, ...options.texts };
  const sums = [
    ...Object.entries(texts).map(([path, text]) => `${sha256Of(text)}  ${path}\n`),
    ...[...plan.records, ...plan.segments].map(({ path, sha256 }) => `${sha256}  ${path}\n`),
  ];
  return { ...texts, SHA256SUMS: sums.join('') };
}

/** Reads the files of a bundle, and counts entries with card numbers. */
class BundleFiles {
  cardNumbers = 0;
  readonly #store: Store;
  readonly #plan: EvidencePlan;
  readonly #options: EvidenceOptions;

  constructor(store: Store, plan: EvidencePlan, options: EvidenceOptions) {
    this.#store = store;
    this.#plan = plan;
    this.#options = options;
  }

  /** Yields every file of the bundle. @throws SvcError `checksum_mismatch` if a file of the archive was changed */
  async *read(texts: Readonly<Record<string, string>>): AsyncGenerator<TarFile> {
    for (const [path, text] of Object.entries(texts)) yield textFile(path, text);
    for (const { path, sha256 } of this.#plan.records) {
      const text = (await readText(this.#store, path)) ?? '';
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
      for (const line of lines) if (jsonHasCardNumber(line)) this.cardNumbers += 1;
    }
  }
}

const FOLDER = 'evidence/';

function textFile(path: string, text: string): TarFile {
  const content = Buffer.from(text);
  return { path: FOLDER + path, bytes: content.length, content: [content] };
}

async function* checked(store: Store, { path, bytes, sha256 }: Segment, onBytes: (bytes: number) => void) {
  const hash = createHash('sha256');
  let read = 0;
  for await (const piece of store.stream(path)) {
    hash.update(piece);
    onBytes(piece.byteLength);
    read += piece.byteLength;
    if (read <= bytes) yield piece;
  }
  if (read !== bytes || hash.digest('hex') !== sha256) throw damaged(path, 'it is not the file that was written');
}

/**
 * Returns the description of a bundle and its archive, without the time of its creation. The script in the bundle
 * recomputes everything but `verified` from the records, with the members in this order.
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
    requested: isoRange(plan.requested),
    record: last.record.sequence,
    sha256: last.sha256,
    records: plan.records.length,
    segments: plan.segments.length,
    entries: plan.entries,
    covered: coverage.covered().map(isoRange),
    gaps: coverage.gaps().map(isoRange),
    dropped: coverage.drops.map(dropOf),
    reviews: plan.reviews.map(({ number, written_at, ...review }) => ({ number, written_at, ...review })),
    clock: plan.clocks.all().map(({ direction, records: count, mostMs, from: begin, to: end }) => {
      return { direction, records: count, most_ms: mostMs, from: begin, to: end };
    }),
    verified: { records, segments, entries, bytes, sha256, problems: problems.map(problemOf) },
  };
  return `${JSON.stringify(description, undefined, 2)}\n`;
}

function problemOf({ problem, path, message }: Finding) {
  return { problem, path, message };
}

/** Copies the known members of a record of dropped months. */
function dropOf({ before, written_at: at, by, months }: DropRecord) {
  const monthsText = months.map(({ month, segments, entries, bytes }) => ({ month, segments, entries, bytes }));
  return { before, written_at: at, by, months: monthsText };
}

/** A file in a tar archive. Its content must have exactly the given size. */
interface TarFile {
  /** A relative path with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Returns a tar archive (ustar) of files. The same files and time (epoch milliseconds) result in the same bytes. */
async function tarOf(files: AsyncIterable<TarFile>, time: number): Promise<Readable> {
  const { createTarPacker } = await import('modern-tar');
  const { readable, controller } = createTarPacker();
  const pack = async (): Promise<void> => {
    for await (const { path: name, bytes: size, content } of files) {
      const entry = controller.add({ name, size, mtime: new Date(time), mode: 0o600, uid: 0, gid: 0 }).getWriter();
      for await (const piece of content) await entry.write(piece);
      await entry.close();
    }
    controller.finalize();
  };
  void pack().catch((error: unknown) => controller.error(error));
  return Readable.fromWeb(readable);
}
