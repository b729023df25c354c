import { constants, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { isSvcError, SvcError, systemCodeOf } from '../../base/errors.ts';
import type { OutputStream, System } from '../../base/system.ts';
import type { Renderer } from './view.ts';

const DEFAULT_WIDTH = 80;

/** The reader of a pipe closed it (`| head`). A list then ends quietly with exit code 0. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';

  constructor() {
    super('the reader of the output went away');
  }
}

interface OutputOptions {
  /** Name of the stream in an error: "standard output". */
  readonly name: string;
  /** Removes secrets. Every text passes through it. */
  readonly redact: (text: string) => string;
  /** Returns a promise to await before writing, such as the end of a pager on the same screen. */
  readonly after?: (() => Promise<unknown> | undefined) | undefined;
  /** Bypasses the stream's pager, if it has not started yet. */
  readonly bypassPager?: (() => void) | undefined;
}

/** The only way for text out of the process: it redacts, awaits and checks each write. */
export class Output {
  readonly #stream: OutputStream;
  readonly #options: OutputOptions;
  #gone: AbortController | undefined;
  #failure: Error | undefined;
  #goesOn = false;

  constructor(stream: OutputStream, options: OutputOptions) {
    this.#stream = stream;
    this.#options = options;
    // An error may occur between two writes. This listener prevents a crash, and the next write reports the error.
    stream.on('error', (error: Error) => this.#fail(error));
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The current columns of the terminal; 80 if unknown. */
  get width(): number {
    const { columns } = this.#stream;
    return columns !== undefined && columns > 0 ? columns : DEFAULT_WIDTH;
  }

  /** Aborts with a {@link ReaderGone} when the reader has gone, so that requests can stop. */
  get readerGone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#failure instanceof ReaderGone && !this.#goesOn) this.#gone.abort(this.#failure);
    return this.#gone.signal;
  }

  /** Drops what is written after the reader has gone, for work whose exit code says more than that it was printed. */
  goOnWithoutReader(): void {
    this.#goesOn = true;
  }

  /** Bypasses the pager for output that is no table. */
  bypassPager(): void {
    this.#options.bypassPager?.();
  }

  /** Redacts a text as `write` does, for text that is cut before it is written. */
  redact(text: string): string {
    return this.#options.redact(text);
  }

  /** Writes a text and resolves when the stream has accepted it. Throws {@link ReaderGone}, or `output` for other failures. */
  write(text: string): Promise<void> {
    return this.#write(this.redact(text));
  }

  /** Writes a text whose cells were redacted one by one. Redacting the whole line could hide the cells after a secret, too. */
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
    if (!(this.#goesOn && failure instanceof ReaderGone)) throw failure;
  }

  // The first failure counts: later ones only say that the stream is destroyed.
  #fail(error: unknown): Error {
    this.#failure ??= CLOSED_PIPE.has(systemCodeOf(error)) ? new ReaderGone() : writeError(this.#options.name, error);
    if (this.#failure instanceof ReaderGone && !this.#goesOn) this.#gone?.abort(this.#failure);
    return this.#failure;
  }
}

const CLOSED_PIPE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EOF', 'ECONNRESET']);

/** Standard output (1) or error (2); Node's own stream is opened only where it is needed. */
export function standardStream(fd: 1 | 2, openStream: () => OutputStream): OutputStream {
  const file = directFile(fd);
  return file === undefined ? openStream() : new DirectStream(file, openStream);
}

/**
 * Writes directly to a file or pipe. Node's stream would load `net`, which a short command does without, and it ignores
 * short writes, so that a nearly full disk loses data without an error. Node's stream takes over when a pipe is full,
 * since it can wait.
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
        takeBack(this.#file, size, done);
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
 * Removes what was written of a text that did not fit from the end of a file, so that the next run, which writes it
 * again, does not continue half a line. This is done only in a file that was opened with `>>`: in any other one, the next
 * write would leave a hole.
 */
function takeBack(file: number, sizeBefore: number, written: number): void {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${file}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8);
    const isAppended = (flags & constants.O_APPEND) !== 0;
    // Another process may have appended to it, too.
    if (isAppended && fstatSync(file).size === sizeBefore + written) ftruncateSync(file, sizeBefore);
  } catch {
    // Without /proc, and for a pipe. The failure of the write is reported in any case.
  }
}

/**
 * Opens a descriptor for writes that do not wait: a file, the null device, or a pipe reopened, since its flags are shared
 * with others.
 */
function directFile(fd: number): number | undefined {
  try {
    const found = fstatSync(fd);
    if (found.isFile()) return fd;
    if (found.isFIFO()) return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return found.rdev === statSync('/dev/null').rdev ? fd : undefined;
  } catch {
    // A socket, a pipe of another user or without a reader, or any pipe on another system cannot be reopened.
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
 * Writes a list batch by batch, each after the reader took the one before. Once begun, the list is also ended
 * when the source fails, so that what was written can be parsed; the failure goes on to the caller.
 * Resolves to the number of rows written.
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
    // The first failure is reported, so a failure of this last write does not matter.
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
