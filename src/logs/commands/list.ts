import { SvcError } from '../../base/errors.ts';
import { nearest, typedWord } from '../../base/security/typed-word.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import { option, typedCommand } from '../../cli/app/hint.ts';
import { PAGING_PARAMETERS } from '../../cli/app/paging.ts';
import { conflicting, flag, type Input } from '../../cli/app/parameter.ts';
import {
  listPrinter,
  type ListProgress,
  newListProgress,
  pageSizeFor,
  type PagingInput,
  reportRest,
  wanted,
} from '../../cli/app/print.ts';
import { countText, isoTime, parseTime, SECOND_MS, wholeSecond } from '../../cli/output/time.ts';
import type { LogFilter } from '../../client/api/logs.ts';
import type { Page } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import { filterOf } from '../entry-filter.ts';
import { matches, clientFilters, reportFiltered, filterWords } from '../filter.ts';
import type { TailInput } from '../follow/start.ts';
import { OddEntries } from '../odd-entries.ts';
import {
  ENTITY_PARAMETERS,
  INTERVAL_PARAMETERS,
  ENTRY_PARAMETERS,
  RETENTION_PARAMETERS,
  intervalOf,
  actorNames,
  firstRequest,
  MAX_LAST,
  entityFilter,
  type EntryInput,
  type EntityInput,
} from '../options.ts';
import { logView } from '../view.ts';

const parameters = {
  follow: conflicting(
    ['until', 'all', 'start', 'pageSize'],
    flag('-f, --follow', "follow as 'svc logs tail' does, after the last --limit entries or from --since on"),
  ),
  ...ENTITY_PARAMETERS,
  ...INTERVAL_PARAMETERS,
  ...PAGING_PARAMETERS,
  ...ENTRY_PARAMETERS,
  ...RETENTION_PARAMETERS,
  ...PROFILES_PARAMETER,
} as const;

type ListInput = Input<typeof parameters>;
type Interval = ReturnType<typeof intervalOf>;

export const list = defineCommand({
  description:
    'Entries are written page by page as they arrive, in the order of the service: the newest first, else a warning says so. Options marked * are filtered client-side; the others go to the service. With such a filter, pages are read until --limit entries match (100 unless given), at most 20,000 entries without --all.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs -f -n 20', 'the last 20 logs, then those that follow'],
    ['svc logs --since 2h --all -o csv --excel-safe > logs.csv', 'two hours of logs, for a spreadsheet'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  exitCodes: [14, 130, 143],
  paged: ({ follow }) => follow !== true,
  fields: logView.fields,
  parameters,
  async run(context, typed) {
    if (typed.follow) return (await import('../follow/run-tail.ts')).runTail(context, tailInput(typed));
    const input = await filterOf(context, typed);
    const interval = intervalOf(input, context.clock.now());
    const actors = await actorNames(context);
    const print = await listPrinter(context, actors?.view ?? logView);
    const client = await context.client();
    const { listSteadily } = await import('../list-steadily.ts');
    let isNarrower = false;
    const searched = new Searched(input, interval);
    const filter = toFilter(input, interval);
    const pages = listSteadily(client.logs, filter, {
      start: input.start,
      pageSize: pageSizeFor(input, searched.isFiltered),
      isAhead: input.all,
      onRestart: () => {
        isNarrower = true;
      },
    });
    const seen = newListProgress();
    const odd = new OddEntries();
    const checks = listChecks(input, interval);
    const read = searched.noted(context, checks.noted(pages), seen);
    const shown = odd.counted(wanted(read, searched.bounds, seen, (log) => matches(log, input)));
    await print(actors?.learned(shown) ?? shown);
    odd.warn(context);
    // These options would not give the list of this cursor again.
    if (isNarrower) seen.next = undefined;
    searched.report(context, seen);
    if (await searched.isOldestFirst(seen, (start) => client.logs.list(filter, { start, pageSize: 100 }).pages()))
      warnOfOldest(context, input);
    input.near.report(context);
    await checks.finish(context, seen, client.now(), searched.oldest);
    return 0;
  },
  async request(context, input) {
    if (input.follow) return (await import('../follow/run-tail.ts')).tailRequest(context, tailInput(input));
    const interval = intervalOf(input, context.clock.now());
    const { isFiltered } = new Searched(input, interval);
    return firstRequest(toFilter(input, interval), { start: input.start, pageSize: pageSizeFor(input, isFiltered) });
  },
});

// What a tail can do beyond a list is left to it.
function tailInput(input: ListInput): TailInput {
  const { limit: last, since } = input;
  if (last !== undefined && since !== undefined)
    throw new SvcError('usage', '--limit and --since cannot both say where --follow begins', {
      hint: 'Leave one of them out.',
    });
  if (last !== undefined && last > MAX_LAST)
    throw new SvcError('usage', `with --follow, --limit must be at most ${MAX_LAST}`);
  const more = { checkpoint: undefined, to: undefined, overlap: undefined, interval: undefined, for: undefined };
  return { ...input, ...more, last, max: undefined, idleExit: undefined, hideOwnReads: false };
}

function toFilter(input: ListInput, { since, until }: Interval): LogFilter {
  return { ...entityFilter(input), startDate: isoTime(since), endDate: isoTime(until) };
}

/** Warns where a list may lack entries that the service no longer keeps, and of names that do not exist. */
function listChecks(input: ListInput, { since, until = Infinity }: Interval) {
  const seenOperations = new Set<string>();
  return {
    async *noted(pages: AsyncIterable<Page<Log>>): AsyncGenerator<Page<Log>> {
      for await (const page of pages) {
        const names = input.operation.length > 0 ? page.items.map(({ operation }) => operation) : [];
        for (const name of names) if (typeof name === 'string') seenOperations.add(name);
        yield page;
      }
    },
    /** Reports once all is written; `now` is the service's time. @throws SvcError `entries_missing` */
    async finish(context: Context, seen: ListProgress, now: number, oldest: number): Promise<void> {
      await warnOfNames(context, input, seen, seenOperations);
      const { DEFAULT_RETENTION_MS } = await import('../entry.ts');
      const edge = now - (input.retention ?? DEFAULT_RETENTION_MS);
      // The service forgets the oldest first: once all is read, what it still has proves that it has all that came after.
      const to = Math.min(edge, until, seen.more ? Infinity : oldest);
      if (since === undefined || since >= to) return;
      const gap = `entries may be missing from ${isoTime(since)} to ${isoTime(to)}`;
      context.notices.warn(`${gap}: older than the service keeps them (--retention)`);
      if (input.strict)
        throw new SvcError('entries_missing', 'entries may be missing: the service no longer has them', {
          hint: 'Search an archive of the logs instead, or choose a later --since.',
        });
    },
  };
}

async function warnOfNames(context: Context, input: ListInput, seen: ListProgress, seenOperations: Set<string>) {
  const { system, settings, notices } = context;
  const { entityType, operation } = input;
  const { LOG_OPERATIONS } = await import('../../schema/log.ts');
  const operations = [...new Set([...LOG_OPERATIONS, ...seenOperations])];
  for (const name of operation) if (!operations.includes(name)) notices.warn(unknown('operation', name, operations));
  if (entityType === undefined || seen.read > 0) return;
  const { entityTypesOf } = await import('../../cli/config/cache.ts');
  const types = entityTypesOf(system, settings.baseUrl?.value.origin ?? 'sandbox');
  if (!types.includes(entityType)) notices.warn(unknown('entity type', entityType, types));
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const end = meant === undefined ? `known: ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  return `unknown ${what} ${typedWord(name, known)}: ${end}`;
}

/** The service promises no order: who takes a page for the newest entries must learn that it is not. */
function warnOfOldest({ notices }: Context, { since }: ListInput): void {
  const where = since === undefined ? 'of the log' : 'of the time asked for';
  notices.warn(`this service lists its oldest entries first: these are the oldest ${where}, not the newest`);
  notices.note('for the newest: svc logs tail --last <n>');
}

/** The order of time in which entries come, from the first and the last of them. */
class TimeOrder {
  #first: number | undefined;
  #last: number | undefined;

  note(items: readonly Log[]): void {
    const times = [items[0], items.at(-1)].flatMap((log) => parseTime(log?.created_at ?? '') ?? []);
    this.#first ??= times[0];
    this.#last = times.at(-1) ?? this.#last;
  }

  /** Above 0 where later entries are newer, below 0 where they are older, 0 where neither is known. */
  get step(): number {
    return wholeSecond(this.#last ?? 0) - wholeSecond(this.#first ?? 0);
  }
}

/** A list that is filtered here reads on until so many match, or so many were read. */
const DEFAULT_MATCHES = 100;
const MAX_READ = 20_000;

/** The part of the log that a list reads: how far, and what to report of it where entries are filtered here. */
class Searched {
  /** The time of the oldest entry read, where it matters; else infinite. */
  oldest = Infinity;
  /** Whether entries are also dropped here, so that few of a page may be shown. */
  readonly isFiltered: boolean;
  readonly #input: EntryInput & EntityInput & PagingInput;
  readonly #interval: Interval;
  readonly #order = new TimeOrder();
  #newest = -Infinity;
  #first: number | undefined;
  #last: number | undefined;

  constructor(input: EntryInput & EntityInput & PagingInput, interval: Interval) {
    this.#input = input;
    this.#interval = interval;
    // An id without its type may be ignored by the service.
    const isIdOnly = input.entityId !== undefined && input.entityType === undefined;
    this.isFiltered = isIdOnly || clientFilters(input).length > 0;
  }

  /** How many entries to show and to read, for `wanted`. */
  get bounds(): { readonly limit: number | undefined; readonly mostRead: number } {
    const { limit, all } = this.#input;
    if (!this.isFiltered || all) return { limit: all ? Infinity : limit, mostRead: Infinity };
    return { limit: limit ?? DEFAULT_MATCHES, mostRead: MAX_READ };
  }

  async *noted(context: Context, pages: AsyncIterable<Page<Log>>, seen: ListProgress): AsyncGenerator<Page<Log>> {
    const live = this.isFiltered ? context.progress.watching('logs') : undefined;
    const isTimed = this.isFiltered || this.#interval.since !== undefined;
    try {
      for await (const page of pages) {
        this.#order.note(page.items);
        if (isTimed) for (const log of page.items) this.#note(parseTime(log.created_at));
        yield page;
        live?.update({ state: `${countText(seen.read, 'entry')} read` });
        // What a terminal shows now moves by itself.
        if (seen.shown > 0 && context.out.isTerminal) live?.fail();
      }
    } finally {
      live?.fail();
    }
  }

  /**
   * Whether what was shown of a longer list are its oldest entries. Where all entries read are of one second, the page
   * after them is read too, since they do not show the order.
   */
  async isOldestFirst(seen: ListProgress, pagesFrom: (start: string) => AsyncIterable<Page<Log>>): Promise<boolean> {
    if (!seen.more || this.#input.start !== undefined) return false;
    if (this.#order.step === 0 && seen.next !== undefined) {
      for await (const { items } of pagesFrom(seen.next)) {
        this.#order.note(items);
        break;
      }
    }
    return this.#order.step > 0;
  }

  #note(at: number | undefined): void {
    if (at === undefined) return;
    this.oldest = Math.min(this.oldest, at);
    this.#newest = Math.max(this.#newest, at);
    this.#first ??= at;
    this.#last = at;
  }

  /** Reports how much was searched, what that found, and how to get the rest. */
  report(context: Context, seen: ListProgress): void {
    const isTimed = this.#first !== undefined && this.isFiltered;
    const range = isTimed ? `, from ${isoTime(this.oldest)} to ${isoTime(this.#newest)}` : '';
    const { limit = 0, mostRead } = this.bounds;
    const isEarly = seen.more && seen.read >= mostRead && seen.shown < limit;
    const rest = isEarly ? this.#restOf(seen) : undefined;
    reportFiltered(context, this.#input, seen, rest === undefined ? range : '');
    if (rest === undefined) return reportRest(context, seen, 'no log entries');
    context.notices.note(`searched ${countText(seen.read, 'entry')}${range}; to search on`);
    context.notices.command(typedCommand(rest, context.globals, context.system));
  }

  #restOf({ next }: ListProgress): string[] | undefined {
    const first = this.#first;
    const last = this.#last;
    let { since, until } = this.#interval;
    if (next === undefined) {
      // The cursors were those of a shorter list: a time has to do, and its second may come again.
      if (first === undefined || last === undefined) return undefined;
      if (last < first) until = wholeSecond(last) + SECOND_MS;
      else since = wholeSecond(last);
    }
    const { limit } = this.#input;
    return [
      'logs',
      'list',
      ...option('--since', isoTime(since)),
      ...option('--until', isoTime(until)),
      ...filterWords(this.#input),
      ...option('--limit', limit === undefined ? undefined : String(limit)),
      ...option('--start', next),
    ];
  }
}
