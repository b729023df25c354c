import { constants, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { isSvcError, SvcError, systemCodeOf } from '../../base/errors.ts';
import type { OutputStream, System } from '../../base/system.ts';
import type { Renderer } from './view.ts';

const DEFAULT_WIDTH = 80;

/** Thrown when the reader of a pipe closed it (`| head`). A list then ends quietly with exit code 0. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';

  constructor() {
    super('the reader of the output went away');
  }
}

interface OutputOptions {
  /** The name of the stream in errors: "standard output". */
  readonly name: string;
  /** Removes secrets from every text. */
  readonly redact: (text: string) => string;
  /** Returns a promise to await before each write, such as the end of a pager on the same screen. */
  readonly after?: (() => Promise<unknown> | undefined) | undefined;
  /** Bypasses the stream's pager, if it has not started yet. */
  readonly bypassPager?: (() => void) | undefined;
}

/** A stream for all text that leaves the process. Redacts, awaits and checks each write. */
export class Output {
  readonly #stream: OutputStream;
  readonly #options: OutputOptions;
  #gone: AbortController | undefined;
  #failure: Error | undefined;
  #continuesWithoutReader = false;

  constructor(stream: OutputStream, options: OutputOptions) {
    this.#stream = stream;
    this.#options = options;
    // An error may occur between two writes. This listener prevents a crash, and the next write reports the error.
    stream.on('error', (error: Error) => this.#fail(error));
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The current width of the terminal; 80 if unknown. */
  get width(): number {
    const { columns } = this.#stream;
    return columns !== undefined && columns > 0 ? columns : DEFAULT_WIDTH;
  }

  /** Aborts with a {@link ReaderGone} when the reader is gone, so that requests can stop. */
  get readerGone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#failure instanceof ReaderGone && !this.#continuesWithoutReader) this.#gone.abort(this.#failure);
    return this.#gone.signal;
  }

  /** From now on, drops text when the reader is gone instead of failing, so that a command finishes its work. */
  continueWithoutReader(): void {
    this.#continuesWithoutReader = true;
  }

  /** Bypasses the pager, for output that is not a table. */
  bypassPager(): void {
    this.#options.bypassPager?.();
  }

  /** Redacts a text as `write` does, for callers that cut the text before writing. */
  redact(text: string): string {
    return this.#options.redact(text);
  }

  /** Writes a text and resolves when the stream has accepted it. Throws {@link ReaderGone}, or `output` for other failures. */
  write(text: string): Promise<void> {
    return this.#write(this.redact(text));
  }

  /** Writes a text whose cells are redacted already. Redacting whole lines could also hide the cells after a secret. */
  writeRedacted(text: string): Promise<void> {
    return this.#write(text);
  }

  /** Writes the bytes of a requested file unchanged. Fails as `write` does. */
  writeBytes(bytes: Uint8Array): Promise<void> {
    return this.#write(bytes);
  }

  async #write(data: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return this.#end(this.#failure);
    if (data.length === 0) return;
    const before = this.#options.after?.();
    if (before !== undefined) await before;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#stream.write(data, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      this.#end(this.#fail(error));
    }
  }

  #end(failure: Error): void {
    if (!(this.#continuesWithoutReader && failure instanceof ReaderGone)) throw failure;
  }

  // Keeps the first failure, since later ones only say that the stream is destroyed.
  #fail(error: unknown): Error {
    this.#failure ??= CLOSED_PIPE.has(systemCodeOf(error)) ? new ReaderGone() : writeError(this.#options.name, error);
    if (this.#failure instanceof ReaderGone && !this.#continuesWithoutReader) this.#gone?.abort(this.#failure);
    return this.#failure;
  }
}

const CLOSED_PIPE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EOF', 'ECONNRESET']);

/** Opens standard output (1) or standard error (2), without Node's own stream where possible. */
export function standardStream(fd: 1 | 2, openStream: () => OutputStream): OutputStream {
  const file = directFile(fd);
  return file === undefined ? openStream() : new DirectStream(file, openStream);
}

/**
 * Writes directly to a file or pipe. Node's own stream loads `net`, which takes time, and ignores short writes, so that a
 * nearly full disk loses data without an error. Only when a pipe is full does Node's stream take over, because it can wait.
 */
class DirectStream implements OutputStream {
  readonly #file: number;
  readonly #openStream: () => OutputStream;
  readonly #listeners: ((error: Error) => void)[] = [];
  #stream: OutputStream | undefined;

  constructor(file: number, openStream: () => OutputStream) {
    this.#file = file;
    this.#openStream = openStream;
  }

  on(_event: 'error', listener: (error: Error) => void): void {
    this.#listeners.push(listener);
    this.#stream?.on('error', listener);
  }

  write(data: string | Uint8Array, taken: (error?: Error | null) => void): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    let done = 0;
    let size = 0;
    try {
      size = fstatSync(this.#file).size;
      while (!this.#stream && done < bytes.length) done += writeSync(this.#file, bytes, done);
    } catch (error) {
      if (systemCodeOf(error) !== 'EAGAIN') {
        removePartialWrite(this.#file, size, done);
        return taken(error as Error);
      }
      this.#stream = this.#openStream();
      for (const listener of this.#listeners) this.#stream.on('error', listener);
    }
    if (this.#stream) this.#stream.write(bytes.subarray(done), taken);
    else taken();
  }
}

/**
 * Removes the written part of a text that did not fit from the end of a file, so that the next run does not continue half a
 * line. Changes only a file opened with `>>`: in any other file, the next write would leave a hole.
 */
function removePartialWrite(file: number, sizeBefore: number, written: number): void {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${file}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8);
    const isAppended = (flags & constants.O_APPEND) !== 0;
    // Another process may have appended to the file in the meantime.
    if (isAppended && fstatSync(file).size === sizeBefore + written) ftruncateSync(file, sizeBefore);
  } catch {
    // There is no /proc, or this is a pipe. The caller reports the failed write.
  }
}

/**
 * Returns a descriptor for writes that do not wait, for a file, the null device or a pipe. Reopens a pipe, because other
 * processes share the flags of its descriptor.
 */
function directFile(fd: number): number | undefined {
  try {
    const found = fstatSync(fd);
    if (found.isFile()) return fd;
    if (found.isFIFO()) return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return found.rdev === statSync('/dev/null').rdev ? fd : undefined;
  } catch {
    // Not reopenable: a socket, a pipe of another user or without a reader, or any pipe on a system without /proc.
    return undefined;
  }
}

function writeError(name: string, error: unknown): SvcError {
  const code = systemCodeOf(error);
  const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
  return new SvcError('output', `${name} could not be written${code === undefined ? '' : ` (${code})`}`, {
    hint: full ? 'Make room on the disk, or write somewhere else, and run the command again.' : undefined,
    cause: error,
  });
}

/**
 * Writes a list batch by batch, at the pace of its reader. If the source fails, ends the list before throwing, so that the
 * written part can be parsed.
 * @returns the number of rows written
 */
export async function printList<T>(out: Output, renderer: Renderer<T>, batches: AsyncIterable<readonly T[]>) {
  const write = writerFor(out, renderer);
  let count = 0;
  let begun = false;
  try {
    for await (const batch of batches) {
      const head = begun ? '' : (renderer.begin?.() ?? '');
      begun = true;
      await write(head + (await renderer.rows(batch)));
      count += batch.length;
    }
  } catch (error) {
    // The failure of the source is reported, so a failure of this last write does not matter.
    if (begun) await write((await renderer.end?.(true)) ?? '').catch(() => {});
    throw error;
  }
  await write((begun ? '' : (renderer.begin?.() ?? '')) + ((await renderer.end?.()) ?? ''));
  return count;
}

export async function printRecord<T>(out: Output, renderer: Renderer<T>, value: T): Promise<void> {
  await writerFor(out, renderer)(await renderer.record(value));
}

function writerFor<T>(out: Output, { isRedacted = false }: Renderer<T>): (text: string) => Promise<void> {
  return (text) => (isRedacted ? out.writeRedacted(text) : out.write(text));
}

/** Writes a fixed text such as help, without redaction, and resolves to the exit code. */
export async function writePlain(system: Pick<System, 'stdout' | 'stderr'>, text: string): Promise<number> {
  try {
    await new Output(system.stdout, { name: 'standard output', redact: identity }).write(text);
    return 0;
  } catch (error) {
    if (error instanceof ReaderGone) return 0;
    if (!isSvcError(error)) throw error;
    await new Output(system.stderr, { name: 'standard error', redact: identity })
      .write(`error: ${error.message}\n`)
      .catch(() => undefined);
    return error.exitCode;
  }
}

function identity(text: string): string {
  return text;
}
