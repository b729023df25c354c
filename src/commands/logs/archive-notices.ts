import type { Context } from '../../app/command.ts';
import type { RunBegin } from '../../logs/archive/archive.ts';
import type { Written } from '../../logs/archive/writer.ts';
import type { TailEvent } from '../../logs/entry.ts';
import { formatDuration, formatNumber, isoTime } from '../../output/time.ts';
import type { WaitProgress } from '../../output/wait-progress.ts';
import type { ArchiveInput } from './archive.ts';

const CLOCK_SLACK_MS = 60_000;

/** What `svc logs archive` says on stderr while it works. Live on a terminal. */
export class ArchiveNotices {
  readonly #context: Context;
  readonly #input: ArchiveInput;
  readonly #live: WaitProgress | undefined;
  #entries = 0;
  #isCutOff = false;

  constructor(context: Context, input: ArchiveInput) {
    this.#context = context;
    this.#input = input;
    // Elsewhere than on a terminal the summary is enough, and a service's journal stays short.
    if (context.system.stderr.isTTY === true) this.#live = context.progress.waiting('archive');
    context.onClose(() => this.#live?.fail());
  }

  begin({ isNew, tenantId, readTo, since, now }: RunBegin): void {
    const { notices } = this.#context;
    notices.debug(
      isNew
        ? `begins an archive of tenant ${tenantId} at ${isoTime(readTo)}`
        : `goes on at ${isoTime(readTo)}`,
    );
    const asked = this.#input.since?.(now);
    if (!isNew && asked !== undefined && asked < since) {
      notices.warn(
        `the archive begins at ${isoTime(since)}: --since ${isoTime(asked)} counts only where a new one is begun`,
      );
    }
    if (now + CLOCK_SLACK_MS < readTo) {
      notices.warn(
        `the clock stands ${formatDuration(readTo - now)} before the end of the archive: nothing is read until that has passed`,
      );
    }
  }

  committed({ entries }: Written): void {
    const news = entries - this.#entries;
    this.#entries = entries;
    if (news > 0) this.#context.notices.debug(`committed ${formatNumber(news)} entries`);
  }

  show(event: TailEvent): void {
    const { notices, clock } = this.#context;
    switch (event.kind) {
      case 'cut off':
        this.#isCutOff = true;
        notices.warn(`cut off: ${event.reason}; going on trying`);
        return this.#live?.update({ state: 'cut off', nextLookAt: clock.now() + event.nextMs });
      case 'caught up':
        if (this.#isCutOff) notices.note(`caught up after ${formatDuration(event.afterMs)}`);
        this.#isCutOff = false;
        return;
      case 'catching up':
        return this.#live?.update({ state: `${formatDuration(event.now - event.readTo)} behind` });
      case 'looked':
        return this.#live?.update({ state: 'up to date', nextLookAt: clock.now() + event.nextMs });
      case 'gap':
        return notices.warn(
          `entries may be missing from ${isoTime(event.from)} to ${isoTime(event.to)}: older than the service keeps them (--retention)`,
        );
    }
  }

  end({ shared, cardNumbers, raw, timeless }: Written): void {
    this.#live?.fail();
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
