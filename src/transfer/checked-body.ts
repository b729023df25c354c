import { createHash } from 'node:crypto';
import { SvcError } from '../errors.ts';
import type { OnProgress } from './progress.ts';
import type { UploadSource } from './source.ts';

/**
 * The body of one upload attempt. It counts and hashes what passes, and holds the last piece back until all of the
 * source has been read and found to be what was checked: a file that changed never arrives whole (R35).
 */
export class CheckedBody implements AsyncIterable<Uint8Array> {
  /** Why the body ended early, if it was the source's doing. */
  failure: unknown;
  /** Whether the last piece was handed on: before that no store can have the whole file. */
  complete = false;
  /** Hex SHA-256 of the bytes, once complete. */
  sha256 = '';
  readonly #source: UploadSource;
  readonly #expected: string | undefined;
  readonly #onProgress: OnProgress | undefined;
  readonly #onLastPiece: (() => void) | undefined;
  readonly #pieces: AsyncGenerator<Uint8Array>;

  /** `onLastPiece` is called before the last piece is handed on; when it throws, that piece never goes out. */
  constructor(
    source: UploadSource,
    expected: string | undefined,
    onProgress: OnProgress | undefined,
    onLastPiece?: () => void,
  ) {
    this.#source = source;
    this.#expected = expected;
    this.#onProgress = onProgress;
    this.#onLastPiece = onLastPiece;
    this.#pieces = this.#run();
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#pieces;
  }

  /** Lets go of the source, wherever the body stands. */
  close(): void {
    this.#pieces.return(undefined).catch(() => undefined);
  }

  async *#run(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#checked();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  async *#checked(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const { size } = this.#source;
    let read = 0;
    let held: Uint8Array | undefined;
    for await (const piece of this.#source.open()) {
      if (piece.byteLength === 0) continue;
      read += piece.byteLength;
      if (read > size) throw altered('it has grown');
      hash.update(piece);
      if (held) yield* this.#hand(held, read - piece.byteLength);
      held = piece;
    }
    if (read < size) throw altered('it has shrunk');
    const sha256 = hash.digest('hex');
    if (this.#expected !== undefined && sha256 !== this.#expected) throw altered('its content is another');
    this.sha256 = sha256;
    this.#onLastPiece?.();
    this.complete = true;
    if (held) yield* this.#hand(held, read);
  }

  async *#hand(piece: Uint8Array, done: number): AsyncGenerator<Uint8Array> {
    yield piece;
    this.#onProgress?.({ done, total: this.#source.size });
  }
}

function altered(how: string): SvcError {
  return new SvcError('altered', `the file changed after it was checked: ${how}; nothing was uploaded`, {
    hint: 'Let the file come to rest and run the command again.',
  });
}
