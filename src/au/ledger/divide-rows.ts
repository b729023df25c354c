import { createWriteStream } from 'node:fs';
import { type EventEmitter, once } from 'node:events';
import { writeFailure } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { checkRequestFile } from '../request/check-request-file.ts';
import { openOverflowFile } from '../request/overflow-file.ts';
import { REQUEST_HEADER, type RequestFileCheck } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { createSpool } from '../request/spool.ts';
import { newTokenSets } from './claims.ts';
import type { Ledger, LedgerCycle } from './ledger.ts';
import { keyOfRequestRow, keyOfRequestToken } from './request-rows.ts';
import type { RowSet } from './row-set.ts';
import type { Taken } from './settle-claims.ts';

type Rows = Pick<UploadSource, 'open'>;

/** A private request file with some of the rows, which is removed at the end of the command unless a run takes it over. */
export interface DividedRows {
  readonly path: string;
  readonly check: RequestFileCheck;
}

/** The rows of a file that a claim has. */
export interface JoinedRows extends Taken {
  readonly file: DividedRows;
  /** Whether these rows were sorted as the job of the claim has them. */
  readonly isInOrder?: boolean | undefined;
}

/** The rows of a file, by what is to be done with them. */
export interface Division {
  /** The rows that no claim has; undefined if there is none. */
  readonly free: DividedRows | undefined;
  /** The rows that a claim has, for each claim. */
  readonly joined: readonly JoinedRows[];
  /** The number of rows whose tokens came from results of the cycle. They are up to date. */
  readonly made: number;
}

/**
 * Divides the rows of a file among the claims that have them. Returns undefined if all rows are free, so that the file
 * itself can be sent.
 */
export async function divideRows(
  context: Context,
  ledger: Ledger,
  cycle: LedgerCycle,
  sources: readonly Rows[],
  taken: readonly Taken[],
): Promise<Division | undefined> {
  const born = await Promise.all(newTokenSets(await cycle.read()).map((name) => cycle.rowSet(name)));
  if (taken.length === 0 && born.every(({ size }) => size === 0)) return undefined;
  const sets = await Promise.all(taken.map(async ({ claim }) => claim.row_set && cycle.rowSet(claim.row_set)));
  const groups = taken.map(() => new RowsFile(context));
  const free = new RowsFile(context);
  let made = 0;
  for (const source of sources)
    for await (const rows of readRequest(source.open())) {
      for (const row of rows) {
        const key = keyOfRequestRow(ledger.salt, row);
        const group = groups[sets.findIndex((set) => !set || set.has(key))];
        if (group !== undefined) group.add(row.line);
        else if (isBorn(born, ledger.salt, row.token)) made += 1;
        else free.add(row.line);
      }
      for (const file of [free, ...groups]) await file.flush();
    }
  if (made === 0 && groups.every(({ rows }) => rows === 0)) return undefined;
  const joined: JoinedRows[] = [];
  for (const [index, one] of taken.entries()) {
    const file = await groups[index]?.finish();
    if (file) joined.push({ ...one, rows: file.check.rows, file });
  }
  return { free: await free.finish(), joined, made };
}

function isBorn(sets: readonly RowSet[], salt: string, token: string): boolean {
  if (sets.length === 0) return false;
  const key = keyOfRequestToken(salt, token);
  return sets.some((set) => set.has(key));
}

/** A request file that is written row by row. It exists once it has a row. */
class RowsFile {
  readonly #context: Context;
  #text = `${REQUEST_HEADER}\n`;
  #stream: ReturnType<typeof createWriteStream> | undefined;
  #path = '';
  #failure: unknown;
  rows = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  add(line: string): void {
    this.#text += `${line}\n`;
    this.rows += 1;
  }

  /** Writes what was added, and waits until the disk takes more. */
  async flush(): Promise<void> {
    if (this.rows === 0 || this.#text === '') return;
    const stream = (this.#stream ??= await this.#open());
    const text = this.#text;
    this.#text = '';
    if (!stream.write(text) && this.#failure === undefined) await drained(stream);
    this.#requireWritten();
  }

  /** Returns the checked file; undefined if no row was added. */
  async finish(): Promise<DividedRows | undefined> {
    if (this.rows === 0) return undefined;
    await this.flush();
    const stream = this.#stream;
    if (stream !== undefined) {
      stream.end();
      if (!stream.closed) await once(stream, 'close');
    }
    this.#requireWritten();
    const { signal, clock } = this.#context;
    const openOverflow = () => openOverflowFile(this.#context);
    const how = { signal, openOverflow, now: clock.now() };
    const check = await checkRequestFile((await fileSource(this.#path)).open(), how);
    return { path: this.#path, check };
  }

  async #open(): Promise<ReturnType<typeof createWriteStream>> {
    const spooled = await createSpool(this.#context.system);
    this.#context.onClose(() => spooled.remove());
    this.#path = spooled.path;
    const stream = createWriteStream(this.#path, { flags: 'wx', mode: 0o600 });
    stream.on('error', (error) => (this.#failure ??= error));
    return stream;
  }

  #requireWritten(): void {
    if (this.#failure !== undefined) throw writeFailure(this.#path, this.#failure);
  }
}

/** Waits until a stream takes more, or is closed after a failure. A large file waits thousands of times. */
async function drained(stream: EventEmitter): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
