import { type EventEmitter, once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { writeFailure } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { checkRequestFile } from './check-request-file.ts';
import { openOverflowFile } from './overflow-file.ts';
import { REQUEST_HEADER, type RequestFileCheck } from './request-file.ts';
import { createSpool } from './spool.ts';

/** A private request file with some of the rows, which is removed at the end of the command. */
export interface DividedRows {
  readonly path: string;
  readonly check: RequestFileCheck;
}

/** A request file that is written row by row. It exists once it has a row. */
export class RowsFile {
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

/** Waits until a stream takes more, or is closed after a failure, and removes its listeners: a large file waits thousands of times. */
async function drained(stream: EventEmitter): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
