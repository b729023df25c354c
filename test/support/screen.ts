import { Writable } from 'node:stream';

/** A standard output that is a terminal and keeps what it gets. */
export class Screen extends Writable {
  readonly isTTY = true;
  readonly columns: number;
  text = '';

  constructor(columns = 120) {
    super();
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.text += chunk.toString();
    taken();
  }
}
