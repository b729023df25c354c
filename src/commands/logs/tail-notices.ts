import type { Context } from '../../app/command.ts';
import { isSvcError } from '../../errors.ts';
import type { TailPosition } from '../../logs/checkpoint.ts';
import type { TailEvent } from '../../logs/entry.ts';
import { formatDuration, isoTime } from '../../output/time.ts';
import type { WaitProgress } from '../../output/wait-progress.ts';
import type { Log } from '../../schema/log.ts';
import { OddEntries } from './odd-entries.ts';
import type { Resume } from './resume-tail.ts';

interface TailRequest {
  readonly since?: unknown;
  readonly to?: URL | undefined;
  readonly checkpoint?: string | undefined;
}

/** What a tail says on stderr: when it is cut off and has caught up, gaps, and the end. Live on a terminal. */
export class TailNotices {
  /** How many stretches of time were found missing. */
  gaps = 0;
  readonly #context: Context;
  readonly #asked: TailRequest;
  readonly #startedAt: number;
  readonly #live: WaitProgress | undefined;
  readonly #odd = new OddEntries();
  #entries = 0;
  #isCutOff = false;

  constructor(context: Context, asked: TailRequest) {
    this.#context = context;
    this.#asked = asked;
    this.#startedAt = context.clock.now();
    // Elsewhere than on a terminal, silence means that nothing happens.
    this.#live = context.progress.watching('logs');
    context.onClose(() => this.#live?.fail());
  }

  /** Counts what goes by. */
  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of this.#odd.counted(batches)) {
      yield batch;
      this.#entries += batch.length;
    }
  }

  /** Where it begins. `--since` stays in a command that runs again and again, and counts for its first run. */
  start(kept: TailPosition | undefined): void {
    const { notices } = this.#context;
    const { to, checkpoint, since } = this.#asked;
    const ignored = since === undefined ? '' : ' (--since ignored)';
    if (kept) notices.note(`resuming from the checkpoint: read up to ${isoTime(kept.readTo)}${ignored}`);
    if (to && checkpoint === undefined)
      notices.warn('without --checkpoint a crash loses the position: entries are then sent again or missed');
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
          `entries may be missing from ${isoTime(event.from)} to ${isoTime(event.to)}: older than the service keeps them (--retention)`,
        );
    }
  }

  /** The end, however it came: how much was written, and how to resume. */
  end({ readTo }: TailPosition, resume: () => Resume): void {
    const { notices, clock, signal } = this.#context;
    this.#live?.fail();
    // The reader of the output has gone, as it does in a pipe to `head`: what it took is not known.
    if (signal.aborted && !isSvcError(signal.reason)) return;
    this.#odd.warn(this.#context);
    const count = `${this.#entries} ${this.#entries === 1 ? 'entry' : 'entries'}`;
    notices.note(
      `${count} in ${formatDuration(clock.now() - this.#startedAt)}, read up to ${isoTime(readTo)}`,
    );
    if (!notices.shows('normal')) return;
    const { command, mayRepeat } = resume();
    notices.note(mayRepeat ? 'no checkpoint could be kept: entries may repeat; resume with' : 'resume with');
    notices.command(command);
  }
}
