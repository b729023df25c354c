// Shows the progress of reading a large file on a terminal.

import path from 'node:path';
import type { Context } from '../../cli/app/command.ts';
import type { WaitProgress } from '../../cli/output/progress.ts';
import { formatPercent } from '../../cli/output/time.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import type { RequestFile } from '../request/open-request-file.ts';

type Sized = Pick<UploadSource, 'open' | 'size'>;

/** A progress line with the file that is read and its percentage. The line disappears at the end. */
export class ShownReading {
  readonly #live: WaitProgress | undefined;

  constructor({ progress }: Pick<Context, 'progress'>, label: string) {
    this.#live = progress.watching(label);
  }

  /** Returns the source with progress. `name` is the file as typed. */
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

  /** Returns both sources of a request file with progress. */
  ofRequest({ source, whole }: Pick<RequestFile, 'source' | 'whole'>, name: string): Record<'source' | 'whole', Sized> {
    const shown = this.of(source, name);
    return { source: shown, whole: source === whole ? shown : this.of(whole, name) };
  }

  end(): void {
    this.#live?.done();
  }
}
