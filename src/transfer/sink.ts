import { createHash } from 'node:crypto';
import type { Version } from './version.ts';

/** Where a download goes. */
export interface Sink {
  /** Bytes that it holds. */
  readonly length: number;
  /** Of what those bytes are the beginning; undefined when they cannot be continued. */
  readonly version: Version | undefined;
  readonly digests: Digests;
  /** Makes ready to go on where it stands. */
  resume(): Promise<void>;
  /** Forgets what it holds and starts again. */
  begin(version: Version | undefined): Promise<void>;
  write(piece: Uint8Array): Promise<void>;
}

/** The running hashes of what a sink holds. */
export class Digests {
  readonly #sha256 = createHash('sha256');
  readonly #md5 = createHash('md5');

  update(piece: Uint8Array): void {
    this.#sha256.update(piece);
    this.#md5.update(piece);
  }

  /** Hex, so far. */
  sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  /** Hex, so far; many stores give it as the ETag. */
  md5(): string {
    return this.#md5.copy().digest('hex');
  }
}
