import { createHash, type Hash } from 'node:crypto';
import type { Version } from './version.ts';

/** Where a download goes. */
export interface Sink {
  /** Bytes that it holds, or has passed on. */
  readonly length: number;
  /** Of what those bytes are the beginning; undefined when they cannot be continued. */
  readonly version: Version | undefined;
  readonly digests: Digests;
  /** Makes ready to go on where it stands. */
  resume(): Promise<void>;
  /** Forgets what it holds and starts anew. @throws SvcError `incomplete` when bytes have been passed on */
  begin(version: Version | undefined): Promise<void>;
  write(piece: Uint8Array): Promise<void>;
}

/** The running hashes of what a sink holds. */
export class Digests {
  readonly #sha256 = createHash('sha256');
  readonly #md5: Hash | undefined;

  /** An MD5 costs more than all else here: it is taken only where it can be needed. */
  constructor(withMd5: boolean) {
    this.#md5 = withMd5 ? createHash('md5') : undefined;
  }

  update(piece: Uint8Array): void {
    this.#sha256.update(piece);
    this.#md5?.update(piece);
  }

  /** Hex, so far. */
  sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  /** Hex, so far; undefined where it was not taken. */
  md5(): string | undefined {
    return this.#md5?.copy().digest('hex');
  }
}
