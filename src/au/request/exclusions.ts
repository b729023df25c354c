import fs from 'node:fs';
import { Readable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { copiedPieces } from '../results/result-codes.ts';
import { TokenTable } from './token-table.ts';

const COLUMNS = ['token', 'code', 'cycle', 'date'] as const;

/** The longest row, in bytes: a file without line ends is not read further. */
const LONGEST_ROW = 64 * 1024;

/** A row that is added: the token, its result code, the name of the cycle where it has one, and the day. */
interface Exclusion {
  readonly token: string;
  readonly code: string;
  readonly cycle: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * The operator's list of tokens that are left out of later requests: a CSV file, to which each cycle adds its own and
 * from which lines are removed with an editor.
 */
export class Exclusions {
  readonly #path: string;
  /** By token, the number of its line. */
  readonly #lines: TokenTable;
  /** Undefined where there is no file yet. */
  readonly #sha256: string | undefined;
  readonly #isNew = new Set<string>();
  readonly #added: Exclusion[] = [];

  private constructor(path: string, lines: TokenTable, sha256: string | undefined) {
    this.#path = path;
    this.#lines = lines;
    this.#sha256 = sha256;
  }

  /** Reads the list; one that does not exist yet is empty. @throws SvcError `refused_input` for another kind of file */
  static async open(path: string): Promise<Exclusions> {
    const lines = new TokenTable({ words: 3 });
    const sha256 = await hashOf(path);
    if (sha256 !== undefined) await readInto(lines, path);
    return new Exclusions(path, lines, sha256);
  }

  /** The line on which the file has the token; 0 where it does not have it. What this command adds does not count. */
  lineOf(token: string): number {
    return this.#lines.valueAt(this.#lines.find(token));
  }

  /** Adds a token that the file does not have. A token that stands in several rows is added once. */
  add(exclusion: Exclusion): void {
    const { token } = exclusion;
    if (this.lineOf(token) !== 0 || this.#isNew.has(token)) return;
    this.#isNew.add(token);
    this.#added.push(exclusion);
  }

  /** How many tokens were added. */
  get added(): number {
    return this.#added.length;
  }

  /** The file with what was added, complete except for its name. */
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

  /** @throws SvcError `conflict` where the file was changed since it was read */
  async requireUnchanged(): Promise<void> {
    if ((await hashOf(this.#path)) === this.#sha256) return;
    throw new SvcError('conflict', `${this.#path} was changed meanwhile; nothing was written`, {
      hint: 'Run the same command again: it reads the file as it is now.',
      retryable: true,
      facts: { file: this.#path },
    });
  }

  async #writeInto(draft: Draft): Promise<void> {
    let last = '\n';
    if (this.#sha256 === undefined) await draft.write(csvRow([...COLUMNS]));
    else
      for await (const piece of (await fileSource(this.#path)).open()) {
        last = String.fromCodePoint(piece.at(-1) ?? 10);
        await draft.write(piece);
      }
    if (last !== '\n') await draft.write('\n');
    for (const { token, code, cycle = '', at } of this.#added)
      await draft.write(csvRow([token, code, cycle, new Date(at).toISOString().slice(0, 10)]));
  }
}

async function readInto(lines: TokenTable, path: string): Promise<void> {
  const { CsvError, parse } = await import('csv-parse');
  const source = await fileSource(path);
  const input = Readable.from(copiedPieces(source.open()), { objectMode: false });
  // A line that the operator added may have the token alone.
  const lenient = { bom: true, skip_empty_lines: true, trim: true, relax_column_count: true };
  const parser = parse({ ...lenient, info: true, max_record_size: LONGEST_ROW });
  input.once('error', (error) => parser.destroy(error));
  let column: number | undefined;
  try {
    for await (const { record, info } of input.pipe(parser) as AsyncIterable<ParsedRow>) {
      if (column === undefined) column = tokenColumn(record, path);
      else {
        const slot = lines.find(record[column] ?? '');
        if (lines.valueAt(slot) === 0) lines.put(slot, info.lines);
      }
    }
  } catch (error) {
    // The parser's own error repeats cells of the file, so it is not the cause.
    throw error instanceof CsvError
      ? otherFile(path, `is malformed in line ${String(error['lines'])} (${error.code})`)
      : error;
  }
  if (column === undefined) throw otherFile(path, 'is empty');
}

interface ParsedRow {
  readonly record: readonly string[];
  /** `lines`: of the file, up to the end of the row. */
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

/** SHA-256 of a file, hexadecimal; undefined where there is none. */
async function hashOf(path: string): Promise<string | undefined> {
  return fs.existsSync(path) ? hashFile(path) : undefined;
}
