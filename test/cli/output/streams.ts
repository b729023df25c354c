import { PassThrough, Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../../../src/base/system.ts';
import { Output } from '../../../src/cli/output/output.ts';

/** An output stream that keeps the text written to it. It is a terminal if `columns` is given. */
export class Sink extends Writable {
  readonly isTTY: boolean;
  columns: number;
  text = '';

  constructor(columns?: number) {
    super({ decodeStrings: false });
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 0;
  }

  override _write(chunk: string, _encoding: BufferEncoding, taken: (error?: Error) => void): void {
    this.text += chunk;
    taken();
  }
}

/** Returns an output stream whose writes all fail with this code. */
export function brokenStream(code: string): Writable {
  return new Writable({
    write: (_chunk, _encoding, taken) => taken(Object.assign(new Error(`write ${code}`), { code })),
  });
}

/** Returns an output over a stream, with nothing to redact. */
export function outputOver(stream: OutputStream): Output {
  return new Output(stream, { name: 'standard output', redact: (text) => text });
}

/** Returns an input stream that is a terminal or not. */
export function inputStream(isTTY: boolean): InputStream {
  return Object.assign(new PassThrough(), { isTTY });
}
