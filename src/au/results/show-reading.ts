import path from 'node:path';
import type { Context } from '../../cli/app/command.ts';
import type { WaitProgress } from '../../cli/output/progress.ts';
import { formatPercent } from '../../cli/output/time.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import type { RequestFile } from '../request/open-request-file.ts';

type Sized = Pick<UploadSource, 'open' | 'size'>;

/** Shows on a terminal which file a command reads and how far, in a line that is gone when the work is over. */
export class ShownReading {
  readonly #live: WaitProgress | undefined;

  constructor({ progress }: Pick<Context, 'progress'>, label: string) {
    this.#live = progress.watching(label);
  }

  /** Returns a source whose reading is shown. `name` is what the operator typed. */
  of(source: Sized, name: string): Sized {
    const live = this.#live;
    if (live === undefined) return source;
    const { size } = source;
    const file = path.basename(name);
    return {
      size,
      async *open() {
        let bytes = 0;
        for await (const piece of source.open()) {
          bytes += piece.length;
          live.update({ state: `${file}, ${formatPercent(Math.floor((100 * bytes) / size) / 100)}` });
          yield piece;
        }
      },
    };
  }

  /** Returns a request file whose reading is shown, with and without its repeated rows. */
  ofRequest({ source, whole }: Pick<RequestFile, 'source' | 'whole'>, name: string): Record<'source' | 'whole', Sized> {
    const shown = this.of(source, name);
    return { source: shown, whole: source === whole ? shown : this.of(whole, name) };
  }

  end(): void {
    this.#live?.done();
  }
}
