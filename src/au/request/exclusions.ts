// Reads and extends the list of tokens that later requests leave out.

import fs from 'node:fs';
import nodePath from 'node:path';
import { Readable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { Draft, removeOrphanedTemporaries } from '../../base/files/draft.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { type Delimiter, delimiterWith } from '../csv-rows.ts';
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
  readonly #isNew = new Set<string>();
  readonly #added: Exclusion[] = [];

  private constructor(path: string, lines: TokenTable, sha256: string | undefined) {
    this.#path = path;
    this.#lines = lines;
    this.#sha256 = sha256;
  }

  /** Reads the list. A missing file is an empty list. @throws SvcError `refused_input` for another kind of file */
  static async open(path: string): Promise<Exclusions> {
    const lines = new TokenTable();
    const sha256 = await hashOf(path);
    if (sha256 !== undefined) await readInto(lines, path);
    return new Exclusions(path, lines, sha256);
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
    if (this.lineOf(token) !== 0 || this.#isNew.has(key)) return;
    this.#isNew.add(key);
    this.#added.push(exclusion);
  }

  /** The number of added tokens. */
  get added(): number {
    return this.#added.length;
  }

  /** The number of tokens in the file. */
  get tokens(): number {
    return this.#lines.size;
  }

  /** Writes the file with the added tokens as a draft, which has yet to get its final name. */
  async draft(): Promise<Draft> {
    const draft = await Draft.begin(this.#path);
    try {
      await this.#writeInto(draft);
      await draft.seal();
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
    let lineEnd: string | undefined;
    let last = '\n';
    const delimiter = this.#sha256 === undefined ? ',' : await delimiterOf(this.#path);
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
      const cells = [token, code, cycle, new Date(at).toISOString().slice(0, 10)];
      await draft.write(cells.map((cell) => quotedFor(delimiter, cell)).join(delimiter) + lineEnd);
    }
  }
}

function quotedFor(delimiter: Delimiter, cell: string): string {
  return cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Returns the delimiter of a list. A spreadsheet may have saved it with semicolons. */
async function delimiterOf(path: string): Promise<Delimiter> {
  const [header = ''] = (await readHead(path)).replace(/^\uFEFF/, '').split(/[\r\n]/, 1);
  return delimiterWith(header, COLUMNS);
}

// The operator edits this file, in a spreadsheet too, so csv-parse reads it: it takes more forms than the fast reader.
async function readInto(lines: TokenTable, path: string): Promise<void> {
  const { CsvError, parse } = await import('csv-parse');
  const source = await fileSource(path);
  const input = Readable.from(copied(source.open()), { objectMode: false });
  // The operator may have added lines with only a token.
  const lenient = { bom: true, skip_empty_lines: true, trim: true, relax_column_count: true };
  // A spreadsheet may have saved the list with other line ends before more rows were added.
  const record_delimiter = ['\r\n', '\n', '\r'];
  const delimiter = await delimiterOf(path);
  const parser = parse({ ...lenient, delimiter, record_delimiter, info: true, max_record_size: MAX_ROW_LENGTH });
  input.once('error', (error) => parser.destroy(error));
  let column: number | undefined;
  try {
    for await (const { record, info } of input.pipe(parser) as AsyncIterable<ParsedRow>) {
      if (column === undefined) column = tokenColumn(record, path);
      else lines.setIfAbsent(tokenKey(record[column] ?? ''), info.lines);
    }
  } catch (error) {
    // The parser's error quotes cells of the file, so it must not become the cause.
    throw error instanceof CsvError
      ? otherFile(path, `is malformed in line ${String(error['lines'])} (${error.code})`)
      : error;
  }
  if (column === undefined) throw otherFile(path, 'is empty');
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

function tokenColumn(header: readonly string[], path: string): number {
  if (COLUMNS.every((name) => header.includes(name))) return header.indexOf('token');
  throw otherFile(path, 'is no list of exclusions');
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
