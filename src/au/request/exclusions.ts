// Reads and extends the list of tokens that later requests leave out.

import fs from 'node:fs';
import nodePath from 'node:path';
import { Readable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { Draft, removeOrphanedTemporaries } from '../../base/files/draft.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { delimiterWith } from '../csv-rows.ts';
import { readHead } from './file-kind.ts';
import { tokenKey } from './row-key.ts';
import { TokenTable } from './token-table.ts';

const COLUMNS = ['token', 'code', 'cycle', 'date'] as const;

/** The longest row, in bytes. Bounds memory for a file without line ends. */
const MAX_ROW_LENGTH = 64 * 1024;

/** A new row of the list: the token, its result code, the cycle if it has a name, and the day. */
interface Exclusion {
  readonly token: string;
  readonly code: string;
  readonly cycle: string | undefined;
  /** The time of the exclusion, in epoch milliseconds. */
  readonly at: number;
}

/**
 * The operator's list of tokens to leave out of later requests. It is a CSV file: each cycle appends tokens, and the
 * operator removes lines with an editor.
 */
export class Exclusions {
  readonly #path: string;
  /** Maps each token to its line number. */
  readonly #lines: TokenTable;
  /** The hash of the file when it was read; undefined if there was no file. */
  readonly #sha256: string | undefined;
  readonly #header: ListHeader;
  readonly #addedKeys = new Set<string>();
  readonly #added: Exclusion[] = [];

  private constructor(path: string, lines: TokenTable, header: ListHeader, sha256: string | undefined) {
    this.#path = path;
    this.#lines = lines;
    this.#header = header;
    this.#sha256 = sha256;
  }

  /** Reads the list. A missing file is an empty list. @throws SvcError `refused_input` for another kind of file */
  static async open(path: string): Promise<Exclusions> {
    const lines = new TokenTable();
    const sha256 = await hashOf(path);
    const header = sha256 === undefined ? { delimiter: ',', columns: COLUMNS } : await readInto(lines, path);
    return new Exclusions(path, lines, header, sha256);
  }

  /**
   * Locks and reads the list, then runs `work`, which extends it. Without the lock, two processes that read the same list would
   * each drop the additions of the other.
   * @throws SvcError `config` if another process extends it and does not end within 10 seconds
   */
  static hold<T>(path: string, host: LockHost, work: (list: Exclusions) => Promise<T>): Promise<T> {
    const name = nodePath.basename(path);
    const lock = nodePath.join(nodePath.dirname(path), `.${name}.lock`);
    const extend = async (): Promise<T> => {
      removeOrphanedTemporaries(path);
      return work(await Exclusions.open(path));
    };
    return withLock(lock, host, extend, { what: name });
  }

  /** Returns the line of a token in the file, or 0. Ignores tokens that this command adds. */
  lineOf(token: string): number {
    return this.#lines.get(tokenKey(token));
  }

  /** Adds a token unless the file or an earlier call already has it. */
  add(exclusion: Exclusion): void {
    const { token } = exclusion;
    const key = tokenKey(token);
    if (this.lineOf(token) !== 0 || this.#addedKeys.has(key)) return;
    this.#addedKeys.add(key);
    this.#added.push(exclusion);
  }

  /** The number of added tokens. */
  get addedCount(): number {
    return this.#added.length;
  }

  /** The number of tokens in the file. */
  get tokenCount(): number {
    return this.#lines.size;
  }

  /** Writes the file with the added tokens as a draft, which has yet to get its final name. */
  async draft(): Promise<Draft> {
    const draft = await Draft.begin(this.#path);
    try {
      await this.#writeInto(draft);
      return draft;
    } catch (error) {
      await draft.discard();
      throw error;
    }
  }

  /** Checks that the file did not change since it was read. @throws SvcError `conflict` */
  async requireUnchanged(): Promise<void> {
    if ((await hashOf(this.#path)) === this.#sha256) return;
    throw new SvcError('conflict', `${this.#path} was changed meanwhile; nothing was written`, {
      hint: 'Run the same command again: it reads the file as it is now.',
      retryable: true,
      facts: { file: this.#path },
    });
  }

  async #writeInto(draft: Draft): Promise<void> {
    const { delimiter, columns } = this.#header;
    let lineEnd: string | undefined;
    let last = '\n';
    if (this.#sha256 === undefined) await draft.write(csvRow([...COLUMNS]));
    else
      for await (const piece of (await fileSource(this.#path)).open()) {
        lineEnd ??= /\r\n|[\r\n]/.exec(Buffer.from(piece).toString('latin1'))?.[0];
        last = String.fromCodePoint(piece.at(-1) ?? 10);
        await draft.write(piece);
      }
    lineEnd ??= '\n';
    if (last !== '\n' && last !== '\r') await draft.write(lineEnd);
    for (const { token, code, cycle = '', at } of this.#added) {
      const cells = new Map<string, string>([
        ['token', token],
        ['code', code],
        ['cycle', cycle],
        ['date', new Date(at).toISOString().slice(0, 10)],
      ]);
      const row = columns.map((column) => cells.get(column) ?? '');
      await draft.write(csvRow(row, { delimiter, lineEnd }));
    }
  }
}

/** How a list is written. A spreadsheet may have saved it with semicolons, and with its columns in another order. */
interface ListHeader {
  readonly delimiter: string;
  readonly columns: readonly string[];
}

// The operator edits this file, in a spreadsheet too, so csv-parse reads it: it takes more forms than the fast reader.
async function readInto(lines: TokenTable, path: string): Promise<ListHeader> {
  const { CsvError, parse } = await import('csv-parse');
  const source = await fileSource(path);
  const input = Readable.from(copied(source.open()), { objectMode: false });
  // The operator may have added lines with only a token.
  const lenient = { bom: true, skip_empty_lines: true, trim: true, relax_column_count: true };
  // A spreadsheet may have saved the list with other line ends before more rows were added.
  const record_delimiter = ['\r\n', '\n', '\r'];
  const head = await readHead(path);
  // Rows in UTF-8 would be appended to it.
  if (/^(?:\uFFFD\uFFFD|[^]?\0)/.test(head)) throw otherFile(path, 'is in UTF-16, and must be saved in UTF-8');
  const [firstLine = ''] = head.replace(/^\uFEFF/, '').split(/[\r\n]/, 1);
  const delimiter = delimiterWith(firstLine, COLUMNS);
  const parser = parse({ ...lenient, delimiter, record_delimiter, info: true, max_record_size: MAX_ROW_LENGTH });
  input.once('error', (error) => parser.destroy(error));
  let columns: readonly string[] | undefined;
  let tokenAt = 0;
  try {
    for await (const { record, info } of input.pipe(parser) as AsyncIterable<ParsedRow>) {
      if (columns === undefined) {
        if (!COLUMNS.every((name) => record.includes(name))) throw otherFile(path, 'is no list of exclusions');
        // The operator's own columns after these stay empty.
        columns = record.slice(0, Math.max(...COLUMNS.map((name) => record.indexOf(name))) + 1);
        tokenAt = record.indexOf('token');
        continue;
      }
      const token = record[tokenAt] ?? '';
      if (token !== '') lines.setIfAbsent(tokenKey(token), info.lines);
    }
  } catch (error) {
    // The parser's error quotes cells of the file, so it must not become the cause.
    throw error instanceof CsvError
      ? otherFile(path, `is malformed in line ${String(error['lines'])} (${error.code})`)
      : error;
  }
  if (columns === undefined) throw otherFile(path, 'is empty');
  return { delimiter, columns };
}

/** Copies the chunks of a file, because the parser reads ahead and the memory of a chunk is reused. */
async function* copied(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) yield Uint8Array.from(chunk);
}

interface ParsedRow {
  readonly record: readonly string[];
  /** `lines` is the line number in the file where the row ends. */
  readonly info: { readonly lines: number };
}

function otherFile(path: string, problem: string): SvcError {
  return new SvcError('refused_input', `${path} ${problem}; nothing was written`, {
    hint: `The first line of the file is ${COLUMNS.join(',')}. A file that does not exist yet is made.`,
    facts: { file: path },
  });
}

/** Returns the SHA-256 of a file in hexadecimal; undefined if there is no file. */
async function hashOf(path: string): Promise<string | undefined> {
  return fs.existsSync(path) ? hashFile(path) : undefined;
}
