// The notices of `svc logs archive` on stderr.

import type { Context } from '../../cli/app/command.ts';
import { formatDuration, utcTime } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { FollowNotices } from '../tail/notices.ts';
import type { RunBegin } from './archive.ts';
import type { Written } from './writer.ts';

const CLOCK_SLACK_MS = 60_000;

/** Reports the progress of `svc logs archive` on stderr, with a live line on a terminal. */
export class ArchiveNotices extends FollowNotices {
  #entries = 0;

  constructor(context: Context) {
    // Without a terminal there is no live line, so that system journals stay short.
    const live = context.system.stderr.isTTY === true ? context.progress.waiting('archive') : undefined;
    super(context, live);
  }

  /** Reports where the run begins. `requested` is the typed beginning, which applies only to a new archive. */
  begin({ isNew, tenantId, readTo, since, now, recovered }: RunBegin, requested: number | undefined): void {
    const { notices } = this.context;
    const start = `starting an archive of tenant ${tenantId}`;
    notices.debug(`${isNew ? start : 'resuming'} at ${utcTime(readTo)}`);
    if (!isNew && requested !== undefined && requested < since)
      notices.warn(
        `the archive begins at ${utcTime(since)}: --since ${utcTime(requested)} is ignored (it applies to new archives only)`,
      );
    if (recovered > 0) notices.note(`added ${countText(recovered, 'entry')} that a run had stored without a record`);
    if (now + CLOCK_SLACK_MS < readTo) {
      const behind = formatDuration(readTo - now);
      notices.warn(
        `the clock is ${behind} behind the end of the archive: the Date header of the service is or was wrong`,
      );
    }
  }

  // Reading reaches the present, but the archive does not, while only Date headers show that it is so late.
  protected override polled({ unprovenMs }: { readonly unprovenMs: number }): string {
    return unprovenMs === 0 ? 'up to date' : `${formatDuration(unprovenMs)} behind`;
  }

  committed({ entries }: Written): void {
    const news = entries - this.#entries;
    this.#entries = entries;
    if (news > 0) this.context.notices.debug(`committed ${countText(news, 'entry')}`);
  }

  /** Reports files that the store had confirmed, but lost, and that were written again. */
  restored([file = '', ...more]: readonly string[]): void {
    const files = countText(more.length + 1, 'file');
    this.context.notices.note(
      `the store had confirmed ${files} and did not have ${more.length === 0 ? 'it' : 'them'}; read from the service again: ${file}${more.length === 0 ? '' : ' …'}`,
    );
  }

  end({ shared, cardNumbers, raw, timeless }: Written): void {
    this.stop();
    const { notices } = this.context;
    if (shared > 0)
      notices.warn(
        `${formatNumber(shared)} of the entries belong to other tenants, which share them: kept in folders of their own`,
      );
    const unusual = [
      [cardNumbers, 'with what looks like a card number', 'archived as the service sent them'],
      [
        raw,
        'with duplicate names, half characters, too many levels or bytes that are not UTF-8',
        'in part-….raw.gz, beside the others',
      ],
      [timeless, 'without a readable time (created_at)', 'under date=unknown'],
    ] as const;
    for (const [count, words, where] of unusual)
      if (count > 0) notices.warn(`entries ${words}: ${formatNumber(count)}, ${where}`);
  }
}
