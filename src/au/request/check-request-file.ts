// Checks a whole request file in one pass.

import { createHash, type Hash } from 'node:crypto';
import { type Capacity, takeFastRows } from './fast-rows.ts';
import { doubtsOf, Overview } from './overview.ts';
import {
  CountedLines,
  CR,
  LF,
  Problems,
  PROBLEMS_KEPT,
  REQUEST_LIMITS,
  type RequestFileCheck,
  type RequestFilePart,
  type RequestLimits,
} from './request-file.ts';
import { LineBlocks, type LineReader } from './request-lines.ts';
import { type CheckedHeader, type CheckedRow, checkForCards, checkHeader, checkRow } from './request-rules.ts';
import { isUuid } from './row-key.ts';
import type { Overflow } from './row-buckets.ts';
import { RowRepeats } from './row-repeats.ts';

export interface CheckOptions {
  /** The limits of one upload. Default: the limits of the service. */
  readonly limits?: RequestLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The current time in milliseconds. Without it, the file gets no overview. */
  readonly now?: number | undefined;
  /** Opens a file for the hashes of rows that do not fit into memory. Default: memory takes all. */
  readonly openOverflow?: (() => Promise<Overflow>) | undefined;
  /** Checks every row without the fast path. The result is the same. For tests and measurements. */
  readonly disableFastPath?: boolean | undefined;
}

/**
 * Checks a request file in one read, with constant memory if it may use an overflow: its problems, the parts to upload and
 * their hashes. Lines may end with LF or CRLF, even mixed, and the last line may have no end.
 */
export async function checkRequestFile(
  source: AsyncIterable<Uint8Array>,
  options: CheckOptions = {},
): Promise<RequestFileCheck> {
  const scan = new RequestFileScan(options);
  const blocks = new LineBlocks(scan);
  let bytes = 0;
  for await (const chunk of source) {
    options.signal?.throwIfAborted();
    blocks.feed(chunk);
    await scan.relieveMemory();
    bytes += chunk.length;
  }
  const last = blocks.finish();
  if (last !== undefined) scan.lastLine(last);
  return scan.finish(bytes);
}

class RequestFileScan implements LineReader {
  readonly #limits: RequestLimits;
  readonly #disableFastPath: boolean;
  readonly #problems = new Problems();
  readonly #repeats: RowRepeats;
  readonly #attachedDigits = new CountedLines();
  readonly #parts: Parts;
  readonly #overview: Overview | undefined;
  /** Rows that are valid but implausible. */
  readonly #implausible = new Problems();
  /** The way to check the lines below the header; undefined before the header is read. */
  #below: CheckedHeader['below'] | undefined;
  #line = 0;
  #rows = 0;

  constructor({ limits = REQUEST_LIMITS, disableFastPath = false, openOverflow, now }: CheckOptions) {
    this.#overview = now === undefined ? undefined : new Overview(now);
    this.#repeats = new RowRepeats(openOverflow);
    this.#limits = limits;
    this.#disableFastPath = disableFastPath;
    this.#parts = new Parts(limits);
  }

  lines(bytes: Uint8Array): void {
    if (this.#below !== undefined) return this.#takeRows(bytes);
    const header = bytes.subarray(0, bytes.indexOf(LF) + 1);
    this.#takeHeader(withoutLineEnd(header));
    this.#parts.begin(header);
    this.#takeRows(bytes.subarray(header.length));
  }

  longBytes(bytes: Uint8Array): void {
    this.#parts.hash(bytes);
  }

  longLine(first: Uint8Array): void {
    if (this.#below === undefined) this.#takeHeader(first);
    else if (this.#below !== 'nothing') this.#takeLine(first);
  }

  /** Checks the last line of a file that does not end with a line end. */
  lastLine(line: Uint8Array): void {
    if (this.#below === undefined) {
      this.#takeHeader(line);
      this.#parts.begin(line);
      return;
    }
    if (this.#parts.isFull(line.length)) this.#parts.cut();
    if (this.#below !== 'nothing') this.#parts.count(this.#takeLine(line), line.length);
    this.#parts.hash(line);
  }

  async relieveMemory(): Promise<void> {
    await this.#repeats.relieve();
  }

  async finish(bytes: number): Promise<RequestFileCheck> {
    if (bytes === 0) this.#problems.add(1, [{ rule: 'empty_file', problem: 'the file is empty' }]);
    else if (this.#rows === 0 && this.#problems.count === 0)
      this.#problems.add(1, [{ rule: 'no_rows', problem: 'the file has no row below its header' }]);
    const { count, first } = this.#problems;
    const { sha256, parts, headerBytes } = this.#parts.finish();
    const overview = this.#overview?.found();
    return {
      overview,
      implausible: this.#implausible,
      doubts: overview === undefined ? [] : doubtsOf(overview),
      ok: count === 0,
      rows: this.#rows,
      bytes,
      sha256,
      problems: first.slice(0, PROBLEMS_KEPT),
      problemCount: count,
      duplicates: await this.#repeats.found(),
      attachedDigits: { count: this.#attachedDigits.count, first: this.#attachedDigits.first },
      exceeds: { bytes: bytes > this.#limits.bytes, rows: this.#rows > this.#limits.rows },
      headerBytes: count === 0 ? headerBytes : 0,
      parts: count === 0 ? parts : [],
    };
  }

  #takeHeader(line: Uint8Array): void {
    const { findings, below } = checkHeader(line);
    this.#below = below;
    this.#line = 1;
    this.#problems.add(1, findings);
  }

  /** Checks whole lines. Alternates between the fast path and, for each line that it cannot handle, the full check. */
  #takeRows(bytes: Uint8Array): void {
    let hashed = 0;
    for (let at = this.#below === 'nothing' ? bytes.length : 0; at < bytes.length;) {
      at = this.#takeFastRows(bytes, at);
      if (at === bytes.length) break;
      const end = bytes.indexOf(LF, at) + 1;
      if (this.#parts.isFull(end - at)) {
        this.#parts.hash(bytes.subarray(hashed, at));
        this.#parts.cut();
        hashed = at;
      } else {
        this.#parts.count(this.#takeLine(withoutLineEnd(bytes.subarray(at, end))), end - at);
        at = end;
      }
    }
    this.#parts.hash(bytes.subarray(hashed));
  }

  #takeFastRows(bytes: Uint8Array, at: number): number {
    if (this.#disableFastPath || this.#below !== 'rows') return at;
    const found = { repeats: this.#repeats, attachedDigits: this.#attachedDigits, overview: this.#overview };
    const { end, rows } = takeFastRows(bytes, at, this.#parts.room(at), this.#line + 1, found);
    this.#line += rows;
    this.#rows += rows;
    this.#parts.count(rows, end - at);
    return end;
  }

  /** Checks one line in full. Returns its number of rows: 1, or 0 for a blank line. */
  #takeLine(line: Uint8Array): number {
    this.#line += 1;
    const checked = this.#below === 'rows' ? checkRow(line) : checkForCards(line);
    const { findings, token, merchant, hasAttachedDigits } = checked;
    this.#problems.add(this.#line, findings);
    if (hasAttachedDigits) this.#attachedDigits.add(this.#line);
    if (findings.length === 0 && this.#below === 'rows') {
      this.#lookAt(checked);
      const bytes = Buffer.from(`${token}${merchant}`);
      const start = Buffer.byteLength(token);
      this.#repeats.add(
        new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
        { start: 0, end: start, isUuid: isUuid(token) },
        { start, end: bytes.length },
        this.#line,
      );
    }
    const rows = line.length === 0 || findings[0]?.rule === 'blank_line' ? 0 : 1;
    this.#rows += rows;
    return rows;
  }

  #lookAt({ token, year, month, merchant }: CheckedRow): void {
    if (this.#overview === undefined) return;
    const row = { token, isUuid: isUuid(token), year, month, merchant };
    const problem = this.#overview.problemOf(row);
    if (problem !== undefined) this.#implausible.add(this.#line, [problem]);
    this.#overview.take(row, this.#line);
  }
}

function withoutLineEnd(line: Uint8Array): Uint8Array {
  return line.subarray(0, line.at(-2) === CR ? -2 : -1);
}

/** Cuts a file into parts within the limits during a single read, and hashes the file and each part. */
class Parts {
  readonly #limits: RequestLimits;
  readonly #whole = createHash('sha256');
  readonly #done: RequestFilePart[] = [];
  /** The hash of the current part. The first part needs none, because it begins like the whole file. */
  #hash: Hash | undefined;
  #header: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;
  #firstRow = 1;
  #rows = 0;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** Begins the first part. `header` is the header line with its line end, which every part repeats. */
  begin(header: Uint8Array): void {
    this.#header = Uint8Array.from(header);
    this.#whole.update(header);
    this.#start = header.length;
    this.#end = header.length;
  }

  /** Tells whether a row of this many bytes must go into the next part. Every part takes at least one row. */
  isFull(bytes: number): boolean {
    const { rows, end } = this.room(0);
    return this.#rows > 0 && (rows <= 0 || bytes > end);
  }

  /** Returns the remaining room of the current part. `at` is the offset of the next row in the bytes being read. */
  room(at: number): Capacity {
    const rows = this.#limits.rows - this.#rows;
    return { rows, end: at + this.#limits.bytes - this.#header.length - (this.#end - this.#start) };
  }

  /** Counts rows whose bytes are hashed later. Lines that are not rows count only as bytes. */
  count(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#end += bytes;
  }

  /** Adds bytes to the hashes of the file and the current part. */
  hash(bytes: Uint8Array): void {
    this.#whole.update(bytes);
    this.#hash?.update(bytes);
  }

  /** Ends the current part and begins the next. All bytes of the part must be hashed. A part without rows continues. */
  cut(): void {
    if (this.#rows === 0) return;
    const hash = this.#hash ?? this.#whole.copy();
    this.#done.push({
      firstRow: this.#firstRow,
      rows: this.#rows,
      start: this.#start,
      end: this.#end,
      bytes: this.#header.length + this.#end - this.#start,
      sha256: hash.digest('hex'),
    });
    this.#hash = createHash('sha256').update(this.#header);
    this.#firstRow += this.#rows;
    this.#start = this.#end;
    this.#rows = 0;
  }

  /** Returns all parts and the hash of the file. */
  finish(): { sha256: string; parts: readonly RequestFilePart[]; headerBytes: number } {
    this.cut();
    return { sha256: this.#whole.digest('hex'), parts: this.#done, headerBytes: this.#header.length };
  }
}
