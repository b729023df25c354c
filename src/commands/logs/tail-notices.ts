import type { Context } from '../../cli/context.ts';
import { sameProfile } from '../../cli/same-profile.ts';
import { isSvcError } from '../../errors.ts';
import { destinationText } from '../../otlp/destination.ts';
import { formatDuration } from '../../render/time.ts';
import type { Log } from '../../schema/log.ts';
import type { TailEvent } from '../../tail/options.ts';
import type { Standing } from '../../tail/state.ts';
import type { WaitProgress } from '../../terminal/wait-progress.ts';
import { type EntryInput, isFiltered } from './entry-filter.ts';

interface Asked extends EntryInput {
  readonly since?: unknown;
  readonly entityType?: string | undefined;
  readonly entityId?: string | undefined;
  readonly to?: URL | undefined;
  readonly checkpoint?: string | undefined;
}

/** What a tail says on stderr: when it is cut off and has caught up, gaps, and the end. Live on a terminal. */
export class TailNotices {
  /** How many stretches of time were found missing. */
  gaps = 0;
  readonly #context: Context;
  readonly #asked: Asked;
  readonly #startedAt: number;
  readonly #live: WaitProgress | undefined;
  #entries = 0;
  #isCutOff = false;

  constructor(context: Context, asked: Asked) {
    this.#context = context;
    this.#asked = asked;
    this.#startedAt = context.clock.now();
    // Elsewhere than on a terminal, silence means that nothing happens.
    this.#live = context.progress.watching('logs');
    context.onClose(() => this.#live?.fail());
  }

  /** Counts what goes by. */
  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of batches) {
      yield batch;
      this.#entries += batch.length;
    }
  }

  /** Where it begins. `--since` stays in a command that runs again and again, and counts for its first run. */
  start(kept: Standing | undefined): void {
    const { notices } = this.#context;
    const { to, checkpoint, since } = this.#asked;
    const passedOver = since === undefined ? '' : '; --since is for a first run, and was passed over';
    if (kept) notices.note(`going on from the checkpoint: read up to ${iso(kept.readTo)}${passedOver}`);
    if (to && checkpoint === undefined)
      notices.warn('without --checkpoint nothing is kept of what was sent: run again, it begins at --since');
  }

  show(event: TailEvent): void {
    const { notices, clock } = this.#context;
    switch (event.kind) {
      case 'cut off':
        this.#isCutOff = true;
        notices.warn(`cut off: ${event.reason}; going on trying`);
        return this.#live?.update({ state: 'cut off', nextLookAt: clock.now() + event.nextMs });
      case 'caught up':
        if (this.#isCutOff) {
          const missed = `${event.entries} ${event.entries === 1 ? 'entry' : 'entries'}`;
          notices.note(`caught up after ${formatDuration(event.afterMs)}: ${missed} read since`);
        }
        this.#isCutOff = false;
        return;
      case 'catching up':
        return this.#live?.update({ state: `${formatDuration(event.now - event.readTo)} behind` });
      case 'looked':
        return this.#live?.update({ state: 'following', nextLookAt: clock.now() + event.nextMs });
      case 'gap':
        this.gaps += 1;
        return notices.warn(
          `entries may be missing from ${iso(event.from)} to ${iso(event.to)}: older than the service keeps them (--retention)`,
        );
    }
  }

  /** The end, however it came: how much was written, and how to go on. */
  end({ newest, readTo }: Standing): void {
    const { notices, clock, signal, globals } = this.#context;
    this.#live?.fail();
    // The reader of the output has gone, as it does in a pipe to `head`.
    if (signal.aborted && !isSvcError(signal.reason)) return;
    const count = `${this.#entries} ${this.#entries === 1 ? 'entry' : 'entries'}`;
    notices.note(`${count} in ${formatDuration(clock.now() - this.#startedAt)}, read up to ${iso(readTo)}`);
    const { checkpoint, entityType, entityId, to } = this.#asked;
    const from = checkpoint === undefined ? `--since ${iso(newest ?? readTo)}` : `--checkpoint ${checkpoint}`;
    const entity = `${entityType === undefined ? '' : ` --entity-type ${entityType}`}${entityId === undefined ? '' : ` --entity-id ${entityId}`}`;
    const sink = to === undefined ? '' : ` --to ${destinationText(to)}`;
    const again = checkpoint === undefined ? ' (its first second comes again)' : '';
    // What is filtered here can be long, and hold characters that a shell reads: it is not written out.
    const line = sameProfile(`go on with 'svc logs tail ${from}${entity}${sink}'`, globals);
    notices.note(`${line}${isFiltered(this.#asked) ? ' and the same filters' : ''}${again}`);
  }
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
