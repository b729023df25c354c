import type { Context } from '../../app/command.ts';
import { isSvcError } from '../../errors.ts';
import type { RunBegin } from '../../logs/archive/archive.ts';
import type { Written } from '../../logs/archive/writer.ts';
import type { TailPosition } from '../../logs/checkpoint.ts';
import type { TailEvent } from '../../logs/entry.ts';
import type { WaitProgress } from '../../output/progress.ts';
import { formatDuration, formatNumber, isoTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import type { ArchiveInput } from './archive.ts';
import { OddEntries } from './odd-entries.ts';
import type { Resume } from './resume-tail.ts';

const CLOCK_SLACK_MS = 60_000;

interface FollowWords {
  /** What it does once it has caught up. */
  readonly idle: string;
  /** Whether the entries read since an outage are counted. */
  readonly countsMissed: boolean;
}

/** What following the logs reports on stderr: outages, the catch-up after them, gaps. Live on a terminal. */
class FollowNotices {
  /** How many time ranges entries may be missing from. */
  gaps = 0;
  readonly #context: Context;
  readonly #live: WaitProgress | undefined;
  readonly #words: FollowWords;
  #isCutOff = false;

  constructor(context: Context, live: WaitProgress | undefined, words: FollowWords) {
    this.#context = context;
    this.#live = live;
    this.#words = words;
    context.onClose(() => this.stop());
  }

  show(event: TailEvent): void {
    const { notices, clock } = this.#context;
    switch (event.kind) {
      case 'cut off':
        this.#isCutOff = true;
        notices.warn(`cut off: ${event.reason}; retrying`);
        return this.#live?.update({ state: 'cut off', nextPollAt: clock.now() + event.nextMs });
      case 'caught up':
        if (this.#isCutOff) {
          const missed = this.#words.countsMissed ? `: ${counted(event.entries)} read since` : '';
          notices.note(`caught up after ${formatDuration(event.afterMs)}${missed}`);
        }
        this.#isCutOff = false;
        return;
      case 'catching up':
        return this.#live?.update({ state: `${formatDuration(event.now - event.readTo)} behind` });
      case 'looked':
        return this.#live?.update({
          state: this.#words.idle,
          nextPollAt: clock.now() + event.nextMs,
        });
      case 'gap':
        this.gaps += 1;
        return notices.warn(
          `entries may be missing from ${isoTime(event.from)} to ${isoTime(event.to)}: older than the service keeps them (--retention)`,
        );
    }
  }

  /** Takes the live line away. */
  protected stop(): void {
    this.#live?.fail();
  }
}

interface TailRequest {
  readonly since?: unknown;
  readonly to?: URL | undefined;
  readonly checkpoint?: string | undefined;
}

/** What a tail says on stderr: when it is cut off and has caught up, gaps, and the end. Live on a terminal. */
export class TailNotices extends FollowNotices {
  readonly #context: Context;
  readonly #asked: TailRequest;
  readonly #startedAt: number;
  readonly #odd = new OddEntries();
  #entries = 0;

  constructor(context: Context, asked: TailRequest) {
    // Without a terminal, silence means that nothing happens.
    super(context, context.progress.watching('logs'), { idle: 'following', countsMissed: true });
    this.#context = context;
    this.#asked = asked;
    this.#startedAt = context.clock.now();
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

  /** The end, whatever the reason: how much was written, and how to resume. */
  end({ readTo }: TailPosition, resume: () => Resume): void {
    const { notices, clock, signal } = this.#context;
    this.stop();
    // The reader of the output is gone, as in a pipe to `head`: what it read is not known.
    if (signal.aborted && !isSvcError(signal.reason)) return;
    this.#odd.warn(this.#context);
    notices.note(
      `${counted(this.#entries)} in ${formatDuration(clock.now() - this.#startedAt)}, read up to ${isoTime(readTo)}`,
    );
    if (!notices.shows('normal')) return;
    const { command, mayRepeat } = resume();
    notices.note(mayRepeat ? 'no checkpoint could be kept: entries may repeat; resume with' : 'resume with');
    notices.command(command);
  }
}

/** What `svc logs archive` says on stderr while it works. Live on a terminal. */
export class ArchiveNotices extends FollowNotices {
  readonly #context: Context;
  readonly #input: ArchiveInput;
  #entries = 0;

  constructor(context: Context, input: ArchiveInput) {
    // Without a terminal the summary is enough, and the journal stays short.
    const live = context.system.stderr.isTTY === true ? context.progress.waiting('archive') : undefined;
    super(context, live, { idle: 'up to date', countsMissed: false });
    this.#context = context;
    this.#input = input;
  }

  begin({ isNew, tenantId, readTo, since, now }: RunBegin): void {
    const { notices } = this.#context;
    notices.debug(
      isNew
        ? `starting an archive of tenant ${tenantId} at ${isoTime(readTo)}`
        : `resuming at ${isoTime(readTo)}`,
    );
    const asked = this.#input.since?.(now);
    if (!isNew && asked !== undefined && asked < since) {
      notices.warn(
        `the archive begins at ${isoTime(since)}: --since ${isoTime(asked)} is ignored (it applies to new archives only)`,
      );
    }
    if (now + CLOCK_SLACK_MS < readTo) {
      notices.warn(
        `the clock is ${formatDuration(readTo - now)} behind the end of the archive: nothing is read until then`,
      );
    }
  }

  committed({ entries }: Written): void {
    const news = entries - this.#entries;
    this.#entries = entries;
    if (news > 0) this.#context.notices.debug(`committed ${formatNumber(news)} entries`);
  }

  end({ shared, cardNumbers, raw, timeless }: Written): void {
    this.stop();
    const { notices } = this.#context;
    if (shared > 0)
      notices.warn(
        `${formatNumber(shared)} of the entries belong to other tenants, which share them: kept in folders of their own`,
      );
    const unusual = [
      [cardNumbers, 'that hold what looks like a card number', 'archived as the service sent them'],
      [raw, 'with equal names, half characters or too many levels', 'in part-….raw.gz, beside the others'],
      [timeless, 'without a time that can be read (created_at)', 'under date=unknown'],
    ] as const;
    for (const [count, words, where] of unusual)
      if (count > 0) notices.warn(`entries ${words}: ${formatNumber(count)}, ${where}`);
  }
}

function counted(entries: number): string {
  return `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
}
