import type { TransferProgress } from '../terminal/transfer-progress.ts';
import type { Context } from './context.ts';

const LARGE = 8_000_000;

/** Progress of reading much: shown once it is known to be much. */
export class ByteProgress {
  readonly #context: Pick<Context, 'progress'>;
  readonly #label: string;
  #shown: TransferProgress | undefined;

  constructor(context: Pick<Context, 'progress'>, label: string) {
    this.#context = context;
    this.#label = label;
  }

  /** Bytes done, and bytes in all. */
  update(done: number, total: number): void {
    if (total >= LARGE) this.#shown ??= this.#context.progress.bytes(this.#label, total);
    this.#shown?.update(done);
  }

  /** All is read. */
  done(): void {
    this.#shown?.done();
    this.#shown = undefined;
  }

  /** The work stopped, unless it was done; the error is reported elsewhere. */
  stop(): void {
    this.#shown?.fail();
    this.#shown = undefined;
  }
}
