import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { WaitProgress } from '../../cli/output/progress.ts';
import { countText, formatDuration, formatNumber, isoTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import type { RunBegin } from '../archive/archive.ts';
import { gapText } from '../archive/open-archive.ts';
import type { Written } from '../archive/writer.ts';
import { OddEntries } from '../commands/entries.ts';
import type { TailPosition } from '../entry.ts';
import type { TailEvent } from './follow.ts';

const CLOCK_SLACK_MS = 60_000;

/** What following the logs reports on stderr: outages, the catch-up after them, gaps. Live on a terminal. */
class FollowNotices {
  /** How many time ranges entries may be missing from. */
  gaps = 0;
  protected readonly context: Context;
  readonly #live: WaitProgress | undefined;
  readonly #idle: string;
  #isDisconnected = false;

  constructor(context: Context, live: WaitProgress | undefined, idle: string) {
    this.context = context;
    this.#live = live;
    this.#idle = idle;
    context.onClose(() => this.stop());
  }

  show(event: TailEvent): void {
    const { notices, clock } = this.context;
    switch (event.kind) {
      case 'disconnected':
        this.#isDisconnected = true;
        notices.warn(`disconnected: ${event.reason}; retrying`);
        return this.#live?.update({ state: 'disconnected', nextPollAt: clock.now() + event.nextMs });
      case 'caught up':
        if (this.#isDisconnected) notices.note(this.caughtUp(event));
        this.#isDisconnected = false;
        return;
      case 'catching up':
        return this.#live?.update({ state: `${formatDuration(event.now - event.readTo)} behind` });
      case 'polled':
        return this.#live?.update({ state: this.#idle, nextPollAt: clock.now() + event.nextMs });
      case 'gap':
        this.gaps += 1;
        return notices.warn(`${gapText(event)}: older than the service keeps them (--retention)`);
      case 'delayed':
        return notices.note(
          event.isDelayed
            ? `too many entries to read each twice: they now come ${formatDuration(event.overlapMs)} late (--overlap)`
            : 'fewer entries again: they now come at once',
        );
      case 'own reads':
        return this.ownReads(event.count, event.entries);
    }
  }

  protected ownReads(_count: number, _entries: number): void {}

  protected caughtUp({ afterMs }: { readonly afterMs: number; readonly entries: number }): string {
    return `caught up after ${formatDuration(afterMs)}`;
  }

  protected stop(): void {
    this.#live?.fail();
  }
}

/** What a tail reports on stderr: outages, gaps, and the end. Live on a terminal. */
export class TailNotices extends FollowNotices {
  readonly #startedAt: number;
  readonly #odd = new OddEntries();
  readonly #hidesOwnReads: boolean;
  #entries = 0;
  #ownReads = 0;
  #hasSuggested = false;

  constructor(context: Context, { hideOwnReads }: { readonly hideOwnReads: boolean }) {
    // Without a terminal, silence means that all is well.
    super(context, context.progress.watching('logs'), 'following');
    this.#startedAt = context.clock.now();
    this.#hidesOwnReads = hideOwnReads;
  }

  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of this.#odd.counted(batches)) {
      yield batch;
      this.#entries += batch.length;
    }
  }

  protected override caughtUp(event: { readonly afterMs: number; readonly entries: number }): string {
    return `${super.caughtUp(event)}: ${countText(event.entries, 'entry')} read since`;
  }

  protected override ownReads(count: number, entries: number): void {
    this.#ownReads += count;
    if (this.#hidesOwnReads || this.#hasSuggested || count * 2 <= entries) return;
    this.#hasSuggested = true;
    this.context.notices.note(
      "these are mostly reads by this command itself: 'svc logs tail --hide-own-reads' hides them",
    );
  }

  /** The end, whatever the reason: how much was written, and how to resume. */
  end({ readTo }: TailPosition, resume: () => { readonly command: string; readonly mayRepeat: boolean }): void {
    const { notices, clock, signal } = this.context;
    this.stop();
    // The reader of the output is gone, as in a pipe to `head`: what it read is not known.
    if (signal.aborted && !isSvcError(signal.reason)) return;
    this.#odd.warn(this.context);
    const duration = formatDuration(clock.now() - this.#startedAt);
    notices.note(`${countText(this.#entries, 'entry')} in ${duration}, read up to ${isoTime(readTo)}`);
    if (this.#hidesOwnReads) notices.note(`hidden: ${countText(this.#ownReads, 'read')} by this command itself`);
    if (!notices.shows('normal')) return;
    const { command, mayRepeat } = resume();
    notices.note(mayRepeat ? 'no checkpoint could be kept: entries may repeat; resume with' : 'resume with');
    notices.command(command);
  }
}

/** What `svc logs archive` reports on stderr while it works. Live on a terminal. */
export class ArchiveNotices extends FollowNotices {
  #entries = 0;

  constructor(context: Context) {
    // Without a terminal the summary is enough, and the journal stays short.
    const live = context.system.stderr.isTTY === true ? context.progress.waiting('archive') : undefined;
    super(context, live, 'up to date');
  }

  /** `requested`: the beginning that was given, which only a new archive takes. */
  begin({ isNew, tenantId, readTo, since, now }: RunBegin, requested: number | undefined): void {
    const { notices } = this.context;
    const start = `starting an archive of tenant ${tenantId}`;
    notices.debug(`${isNew ? start : 'resuming'} at ${isoTime(readTo)}`);
    if (!isNew && requested !== undefined && requested < since)
      notices.warn(
        `the archive begins at ${isoTime(since)}: --since ${isoTime(requested)} is ignored (it applies to new archives only)`,
      );
    if (now + CLOCK_SLACK_MS < readTo) {
      const behind = formatDuration(readTo - now);
      notices.warn(`the clock is ${behind} behind the end of the archive: nothing is read until then`);
    }
  }

  committed({ entries }: Written): void {
    const news = entries - this.#entries;
    this.#entries = entries;
    if (news > 0) this.context.notices.debug(`committed ${countText(news, 'entry')}`);
  }

  lost(words: string): void {
    this.context.notices.warn(words);
  }

  end({ shared, cardNumbers, raw, timeless }: Written): void {
    this.stop();
    const { notices } = this.context;
    if (shared > 0)
      notices.warn(
        `${formatNumber(shared)} of the entries belong to other tenants, which share them: kept in folders of their own`,
      );
    const unusual = [
      [cardNumbers, 'that hold what looks like a card number', 'archived as the service sent them'],
      [raw, 'with duplicate names, half characters or too many levels', 'in part-….raw.gz, beside the others'],
      [timeless, 'without a readable time (created_at)', 'under date=unknown'],
    ] as const;
    for (const [count, words, where] of unusual)
      if (count > 0) notices.warn(`entries ${words}: ${formatNumber(count)}, ${where}`);
  }
}
