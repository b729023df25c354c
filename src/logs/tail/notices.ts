// Reports outages, gaps and the end of a tail.

import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { WaitProgress } from '../../cli/output/wait-progress.ts';
import { formatDuration, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorNames } from '../actor.ts';
import type { TailPosition } from '../entry.ts';
import { type OwnReads, reportHidden } from '../own-reads.ts';
import { MalformedEntries } from '../malformed-entries.ts';
import { gapText } from '../sentences.ts';
import type { TailEvent } from './follow.ts';
import type { Resuming } from './start.ts';

/** Reports outages, recoveries and gaps on stderr, with a live line on a terminal. */
export abstract class FollowNotices {
  /** The number of time ranges in which entries may be missing. */
  gaps = 0;
  /** The reason why the newest poll failed; undefined if it succeeded. */
  outage: string | undefined;
  protected readonly context: Context;
  readonly #live: WaitProgress | undefined;
  #isDisconnected = false;

  constructor(context: Context, live: WaitProgress | undefined) {
    this.context = context;
    this.#live = live;
    context.onClose(() => this.stop());
  }

  show(event: TailEvent): void {
    const { notices, clock } = this.context;
    switch (event.kind) {
      case 'disconnected':
        this.#isDisconnected = true;
        this.outage = event.reason;
        notices.warn(`disconnected: ${event.reason}; retrying`);
        return this.#live?.update({ state: 'disconnected', nextPollAt: clock.now() + event.nextMs });
      case 'caught up':
        if (this.#isDisconnected) notices.note(this.caughtUp(event));
        this.#isDisconnected = false;
        this.outage = undefined;
        return;
      case 'catching up':
        this.outage = undefined;
        return this.#live?.update({ state: `${formatDuration(event.now - event.readTo)} behind` });
      case 'polled': {
        this.outage = undefined;
        const state = this.polled(event);
        return this.#live?.update({ state, nextPollAt: clock.now() + event.nextMs });
      }
      case 'gap':
        this.gaps += 1;
        return notices.warn(`${gapText(event)}: older than the service keeps them (--retention)`);
      case 'delayed':
        return notices.note(
          event.isDelayed
            ? `too many entries to read each twice: they now come ${formatDuration(event.overlapMs)} late (--overlap)`
            : 'fewer entries again: they now come at once',
        );
    }
  }

  /** Returns the state to show after a poll of the present. */
  protected abstract polled(event: { readonly unprovenMs: number }): string;

  protected caughtUp({ afterMs }: { readonly afterMs: number; readonly entries: number }): string {
    return `caught up after ${formatDuration(afterMs)}`;
  }

  protected stop(): void {
    this.#live?.done();
  }
}

/** Reports the events and the end of a tail on stderr, with a live line on a terminal. */
export class TailNotices extends FollowNotices {
  readonly #startedAt: number;
  readonly #malformed = new MalformedEntries();
  readonly #hidden: HiddenReads | undefined;
  #entries = 0;

  constructor(context: Context, hidden?: HiddenReads) {
    // Without a terminal there is no live line: silence means that everything is fine.
    super(context, context.progress.watching('logs'));
    this.#startedAt = context.clock.now();
    this.#hidden = hidden;
  }

  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of this.#malformed.counted(batches)) {
      yield batch;
      this.#entries += batch.length;
    }
  }

  protected override polled(): string {
    const { count = 0 } = this.#hidden?.own ?? {};
    return `following${count === 0 ? '' : `, ${countText(count, 'own read')} hidden`}`;
  }

  protected override caughtUp(event: { readonly afterMs: number; readonly entries: number }): string {
    return `${super.caughtUp(event)}: ${countText(event.entries, 'entry')} read since`;
  }

  /** Reports the end of a tail: the number of entries, the time up to which the log was read, and how to resume. */
  end({ readTo }: TailPosition, hasRead: boolean, resume: () => Resuming): void {
    const { notices, clock, signal } = this.context;
    this.stop();
    // The reader of the output is gone, as in a pipe to `head`, so it is unknown which entries it has read.
    if (signal.aborted && !isSvcError(signal.reason)) return;
    this.#malformed.warn(this.context);
    const duration = formatDuration(clock.now() - this.#startedAt);
    const until = hasRead ? `read up to ${utcTime(readTo)}` : 'and nothing could be read';
    notices.note(`${countText(this.#entries, 'entry')} in ${duration}, ${until}`);
    if (this.#hidden !== undefined)
      reportHidden(this.context, this.#hidden.own, this.#hidden.actors, this.#hidden.isDefault);
    if (!notices.shows('normal')) return;
    const { here, elsewhere, overlapMs } = resume();
    notices.note(here === undefined ? 'no checkpoint could be kept here' : 'resume with');
    if (here !== undefined) notices.command(here);
    notices.note(`or elsewhere (may repeat entries of the last ${formatDuration(overlapMs)}, loses none) with`);
    notices.command(elsewhere);
  }
}

/** The hidden reads, and the names of actors. */
interface HiddenReads {
  readonly own: OwnReads;
  readonly actors: Pick<ActorNames, 'textOf'> | undefined;
  /** Whether they are hidden by default, not by an option. */
  readonly isDefault: boolean;
}
