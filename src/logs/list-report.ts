import { SvcError } from '../base/errors.ts';
import { nearest, typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext, option, typedCommand } from '../cli/app/hint.ts';
import { reportRest, type PagingInput } from '../cli/app/print.ts';
import { countText, isoTime, SECOND_MS, wholeSecond, utcTime } from '../cli/output/time.ts';
import { clientFilters, filterWords, reportFiltered } from './filter.ts';
import type { EntityInput, EntryInput, intervalOf, RetentionInput } from './options.ts';
import type { ListReading } from './read-list.ts';

type Interval = ReturnType<typeof intervalOf>;

/** Reports how much of the log was searched, what that found, and the command for the rest. */
export function reportSearched(
  context: Context,
  input: EntryInput & EntityInput & PagingInput,
  interval: Interval,
  {
    reading,
    isFiltered,
    most,
  }: { readonly reading: ListReading; readonly isFiltered: boolean; readonly most: ReadLimits },
): void {
  const isTimed = isFiltered && reading.first !== undefined;
  const range = isTimed ? `, from ${utcTime(reading.oldest)} to ${utcTime(reading.newest)}` : '';
  const isEarly = reading.more && reading.read >= most.mostRead && reading.shown < (most.limit ?? 0);
  const rest = isEarly ? restWords(input, interval, reading) : undefined;
  reportFiltered(context, input, reading, rest === undefined ? range : '');
  // The note on filters has just said that there was no match.
  if (rest === undefined && reading.shown === 0 && !reading.more && clientFilters(input).length > 0) return;
  if (rest === undefined) return reportRest(context, reading, 'no log entries');
  context.notices.note(`searched ${countText(reading.read, 'entry')}${range}; to search on`);
  context.notices.command(typedCommand(rest, context.globals, context.system));
}

/** The most entries to show, and the most to read for them. */
interface ReadLimits {
  readonly limit: number | undefined;
  readonly mostRead: number;
}

function restWords(
  input: EntryInput & EntityInput & PagingInput,
  interval: Interval,
  { first, last, next }: ListReading,
): string[] | undefined {
  let { since, until } = interval;
  if (next === undefined) {
    // The cursors belong to a narrower list, so the command continues by time and may repeat entries of one second.
    if (first === undefined || last === undefined) return undefined;
    if (last < first) until = wholeSecond(last) + SECOND_MS;
    else since = wholeSecond(last);
  }
  return [
    'logs',
    'list',
    ...option('--since', isoTime(since)),
    ...option('--until', isoTime(until)),
    ...filterWords(input),
    ...option('--limit', input.limit === undefined ? undefined : String(input.limit)),
    ...option('--start', next),
  ];
}

/** Warns that a page is not of the newest entries: the service promises no order. */
export function warnOfOldest({ notices }: Context, { since }: Interval): void {
  const where = since === undefined ? 'of the log' : 'of the requested time';
  notices.warn(`this service lists its oldest entries first: these are the oldest ${where}, not the newest`);
  notices.note('for the newest: svc logs tail --last <n>');
}

/** Warns of operations, actor types and entity types in filters that the service does not know, with the nearest one. */
export async function warnOfUnknownNames(
  context: Context,
  { entityType, operation, actorType }: Pick<EntryInput & EntityInput, 'entityType' | 'operation' | 'actorType'>,
  { read, operations: seen, actorTypes }: ListReading,
): Promise<void> {
  const { system, settings, notices } = context;
  const { LOG_OPERATIONS } = await import('../schema/log.ts');
  const operations = [...new Set([...LOG_OPERATIONS, ...seen])];
  for (const name of operation) if (!operations.includes(name)) notices.warn(unknown('operation', name, operations));
  // Any actor type may exist, so one that no entry has is only named where another was read.
  if (actorTypes.size > 0)
    for (const name of actorType)
      if (!actorTypes.has(name) && nearest(name, actorTypes) !== undefined)
        notices.warn(unknown('actor type', name, [...actorTypes]));
  if (entityType === undefined || read > 0) return;
  const { entityTypesOf, hasListedTypes } = await import('../cli/config/cache.ts');
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const types = entityTypesOf(system, service);
  if (types.includes(entityType)) return;
  if (hasListedTypes(system, service) || nearest(entityType, types) !== undefined)
    return notices.warn(unknown('entity type', entityType, types));
  // The interface lets the service have more types than it names.
  const known = types.toSorted().join(', ');
  notices.warn(`the entity type ${typedWord(entityType, types)} is not one that the interface names (known: ${known})`);
  noteNext(context, 'the service may have more; to list them', ['logs', 'entity-types']);
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const end = meant === undefined ? `known: ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  return `unknown ${what} ${typedWord(name, known)}: ${end}`;
}

/**
 * Warns where entries may be missing because the service no longer keeps them. `now` is the service's time.
 * @throws SvcError `entries_missing` with `--strict`
 */
export async function requireKept(
  { notices }: Context,
  { since, until = Infinity }: Interval,
  { retention, strict }: RetentionInput,
  { more, oldest }: ListReading,
  now: number,
): Promise<void> {
  const { DEFAULT_RETENTION_MS } = await import('./entry.ts');
  const edge = now - (retention ?? DEFAULT_RETENTION_MS);
  // The service deletes the oldest entries first, so the oldest entry read proves that all later ones exist.
  const to = Math.min(edge, until, more ? Infinity : oldest);
  if (since === undefined || since >= to) return;
  const gap = `entries may be missing from ${utcTime(since)} to ${utcTime(to)}`;
  notices.warn(`${gap}: older than the service keeps them (--retention)`);
  if (strict)
    throw new SvcError('entries_missing', 'entries may be missing: the service no longer has them', {
      hint: 'Search an archive of the logs instead, or choose a later --since.',
    });
}
