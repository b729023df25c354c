import type { Writable } from 'node:stream';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';
import { Digests, type Sink } from './sink.ts';
import type { Version } from './version.ts';

/** Passes a download on to a stream. What went out cannot be taken back, only continued. */
export class StreamSink implements Sink {
  length = 0;
  version: Version | undefined;
  readonly digests = new Digests(true);
  readonly #output: Writable;

  constructor(output: Writable) {
    this.#output = output;
  }

  resume(): Promise<void> {
    return Promise.resolve();
  }

  begin(version: Version | undefined): Promise<void> {
    if (this.length > 0) {
      return Promise.reject(
        new SvcError('incomplete', `the download broke off after ${this.length} bytes had been passed on`, {
          hint: 'Drop what came out and run the command again; into a file it could have gone on.',
          facts: { bytes: this.length },
        }),
      );
    }
    this.version = version;
    return Promise.resolve();
  }

  async write(piece: Uint8Array): Promise<void> {
    await this.#writeWhole(piece);
    this.digests.update(piece);
    this.length += piece.byteLength;
  }

  /** Resolves once the piece was taken. A stream that is destroyed may never tell its writer: hence the events. */
  #writeWhole(piece: Uint8Array): Promise<void> {
    const output = this.#output;
    return new Promise<void>((resolve, reject) => {
      const finish = (error?: Error | null): void => {
        output.off('error', finish).off('close', onClose);
        // One that was destroyed before tells a writer only that it was; why is what counts.
        if (error) reject(outputError(output.errored ?? error));
        else resolve();
      };
      const onClose = (): void => finish(output.errored ?? new Error('closed'));
      output.on('error', finish).on('close', onClose);
      output.write(piece, finish);
    });
  }
}

/** A reader that went away is the caller's to judge: that error passes as it is. */
function outputError(error: Error): Error {
  const code = systemCodeOf(error) ?? 'unknown';
  if (code === 'EPIPE') return error;
  return new SvcError('output', `the output could not be written (${code})`, { cause: error });
}
