import type { Page } from '../../api/pages.ts';
import type { Context } from '../../app/command.ts';
import type { ListProgress } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { isoTime, parseTime } from '../../output/time.ts';
import { type Log, LOG_OPERATIONS } from '../../schema/log.ts';
import { nearest, typedWord } from '../../security/typed-word.ts';

const DEFAULT_RETENTION_MS = 86_400_000;

/** What of a list's options is checked against what came. */
interface Checked {
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly retention: number | undefined;
  readonly strict: boolean;
  readonly entityType: string | undefined;
  readonly operation: readonly string[];
}

/** Warns where a list may lack entries that the service no longer keeps, or was asked for a name that nobody knows. */
export class ListChecks {
  readonly #checked: Checked;
  readonly #operations = new Set<string>();
  #oldest = Infinity;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  /** Passes on the pages, and takes note of what they hold. */
  async *noted(pages: AsyncIterable<Page<Log>>): AsyncGenerator<Page<Log>> {
    const { since, operation } = this.#checked;
    for await (const page of pages) {
      for (const { created_at, operation: name } of page.items) {
        if (since !== undefined) this.#oldest = Math.min(this.#oldest, parseTime(created_at) ?? Infinity);
        if (operation.length > 0 && typeof name === 'string') this.#operations.add(name);
      }
      yield page;
    }
  }

  /** Says what is to be said once all is written; `now` is the service's time. @throws SvcError `entries_missing` */
  async finish(context: Context, seen: ListProgress, now: number): Promise<void> {
    await this.#warnOfNames(context, seen);
    const { since, until = Infinity, retention = DEFAULT_RETENTION_MS, strict } = this.#checked;
    const edge = now - retention;
    // The service forgets the oldest first: once all is read, what it still has proves that it has all that came after.
    const to = Math.min(edge, until, seen.more ? Infinity : this.#oldest);
    if (since === undefined || since >= to) return;
    context.notices.warn(
      `entries may be missing from ${isoTime(since)} to ${isoTime(to)}: older than the service keeps them (--retention)`,
    );
    if (!strict) return;
    throw new SvcError('entries_missing', 'entries may be missing, as the service no longer has them', {
      hint: "Read them from an archive with 'svc logs search', or begin the interval later.",
    });
  }

  async #warnOfNames({ system, notices }: Context, seen: ListProgress): Promise<void> {
    const { entityType, operation } = this.#checked;
    for (const name of operation) {
      const known = [...LOG_OPERATIONS, ...this.#operations];
      if (!known.includes(name)) notices.warn(unknown('operation', name, known));
    }
    if (entityType === undefined || seen.read > 0) return;
    const { ENTITY_TYPES, readEntityTypes } = await import('../../config/entity-types.ts');
    const known = [...ENTITY_TYPES, ...readEntityTypes(system).map(([type]) => type)];
    if (!known.includes(entityType)) notices.warn(unknown('entity type', entityType, known));
  }
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const end = meant === undefined ? `known are ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  return `unknown ${what} ${typedWord(name, known)}: ${end}`;
}
