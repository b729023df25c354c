// The options of commands that read logs.

import { SvcError } from '../base/errors.ts';
import type { Context, PreviewRequest } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import {
  conflicting,
  flag,
  type Input,
  type Parameter,
  repeated,
  suggesting,
  value,
  rare,
} from '../cli/app/parameter.ts';
import { formatOf } from '../cli/app/print.ts';
import { serviceOf } from '../cli/app/service.ts';
import { ActorNames } from './actor.ts';
import { moment, type Moment, month, type Month } from '../cli/app/moment.ts';
import { pattern, positiveDuration, text, textToSend, trimmed, trimmedToSend } from '../cli/app/value-parsers.ts';
import type { LogFilter } from '../client/api/logs.ts';
import type { PageOptions } from '../client/api/pages.ts';
import { HOUR_MS } from '../schema/durations.ts';
import { MAX_PAGE_SIZE } from '../schema/page-size.ts';

/** The filters that the service applies. */
export const ENTITY_PARAMETERS = {
  entityType: suggesting(
    'entity type',
    value('--entity-type <type>', 'only this type of entity (see logs entity-types)', textToSend),
  ),
  entityId: value('--entity-id <id>', 'only the entity with this id', trimmedToSend),
} as const;

export const INTERVAL_PARAMETERS = {
  since: value('--since <time>', 'only entries since: 2h, 10:00, 2026-01-31', moment),
  until: value('--until <time>', 'only entries before this time', moment),
} as const;

/** A whole month in place of --since and --until. */
export const MONTH_PARAMETER = conflicting(
  ['since', 'until'],
  value('--month <month>', 'a whole month, UTC: last, this or 2026-11', month),
);

/** The filters that svc applies itself. Help marks them with an asterisk. */
export const ENTRY_PARAMETERS = {
  operation: suggesting({ wordsOf: 'operation' }, repeated('--operation <name>', 'only this operation *', text)),
  actor: suggesting('actor', repeated('--actor <id|name>', 'only this actor, by id or name *', trimmed)),
  actorType: rare(
    suggesting({ wordsOf: 'actor type' }, repeated('--actor-type <type>', 'only actors of this type *', text)),
  ),
  grep: value('--grep <regex>', 'only entries whose message matches *', pattern),
  excludeOperation: suggesting(
    { wordsOf: 'operation' },
    repeated('--exclude-operation <name>', 'not this operation *', text),
  ),
  excludeEntityType: suggesting(
    'entity type',
    rare(repeated('--exclude-entity-type <type>', 'not this type of entity *', text)),
  ),
} as const;

/** The filters without the asterisk, for commands in which svc applies every filter. */
export const UNMARKED_ENTRY_PARAMETERS = Object.fromEntries(
  Object.entries(ENTRY_PARAMETERS).map(([name, each]) => [
    name,
    { ...each, description: each.description.replace(/ \*$/, '') },
  ]),
) as typeof ENTRY_PARAMETERS;

/** The options about entries that the service may no longer have. */
export const RETENTION_PARAMETERS = {
  retention: rare(value('--retention <duration>', 'how long the service keeps logs (default 24h)', positiveDuration)),
  strict: flag('--strict', 'exit with 14 when entries may be missing'),
} as const;

/** The option of commands that read only an archive, or an archive and the service. */
export const FULL_PARAMETER = flag('--full', 'read all of the archive, and use no index');

export const STRICT_PARAMETER = flag('--strict', 'exit with 14 when the archive does not cover the requested time');

/** Without a default, since the parser gives this option and its negation one value. */
export const HIDE_OWN_READS: Parameter<boolean | undefined> = {
  ...flag('--hide-own-reads', 'hide own reads of the logs'),
  default: undefined,
};

export const NO_HIDE_OWN_READS = flag('--no-hide-own-reads', 'also show own reads of the logs');

/** The options of a tail that say whether its own reads are wanted. */
interface Wanted {
  readonly noHideOwnReads: boolean;
  readonly entityType: string | undefined;
  readonly operation: readonly string[];
  readonly excludeOperation: readonly string[];
  /** Where entries are sent instead of stdout. */
  readonly to: unknown;
}

/**
 * Whether a person at a terminal sees a tail that may contain reads by the key itself, so that these are hidden. Filters
 * that name reads or logs show that they are wanted.
 */
export function hidesOwnReads(isTerminal: boolean, input: Wanted): boolean {
  const { noHideOwnReads, to, entityType, operation, excludeOperation } = input;
  if (!isTerminal || noHideOwnReads || to !== undefined) return false;
  return entityType === undefined && !operation.includes('read') && !excludeOperation.includes('read');
}

/** The most entries with which a tail can begin. */
export const MAX_LAST = 10_000;

export const OVERLAP_PARAMETER = value(
  '--overlap <duration>',
  'how late an entry may arrive (default 2m)',
  positiveDuration,
);

export type RetentionInput = Input<typeof RETENTION_PARAMETERS>;
export type EntryInput = Input<typeof ENTRY_PARAMETERS>;
export type EntityInput = Input<typeof ENTITY_PARAMETERS>;
export type IntervalInput = Input<typeof INTERVAL_PARAMETERS> & { readonly month?: Month | undefined };

/** Returns the options about entries that the service may no longer have, as words of a command line. */
export function retentionWords({ retention, strict }: RetentionInput): string[] {
  return [...option('--retention', durationText(retention)), ...(strict ? ['--strict'] : [])];
}

/** Returns a duration in milliseconds as an option takes it. */
export function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  if (ms % HOUR_MS === 0) return `${ms / HOUR_MS}h`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Resolves the typed interval to epoch milliseconds. @throws SvcError `usage` if it is empty */
export function intervalOf({ since, until, month: whole }: IntervalInput, now: number) {
  if (whole !== undefined) return whole(now);
  const interval = { since: since?.(now), until: until?.(now) };
  if (interval.since !== undefined && interval.until !== undefined && interval.since >= interval.until)
    throw new SvcError('usage', '--since must be before --until', { hint: 'Swap them, or widen the range.' });
  return interval;
}

/** Resolves a typed beginning of days that are over, or under way. @throws SvcError `usage` for one in the future */
export function pastTime(since: Moment, now: number): number {
  const at = since(now);
  if (at > now) throw new SvcError('usage', '--since takes a time in the past', { hint: 'Such as 90d.' });
  return at;
}

/**
 * Returns names of actors for a table without chosen fields; otherwise undefined. An archive sets the service when it is
 * opened.
 */
export function actorNames(context: Context, source: 'service' | 'archive' = 'service'): ActorNames | undefined {
  if (formatOf(context, 'list') !== 'table' || context.globals.fields !== undefined) return undefined;
  return new ActorNames(context, source === 'service' ? serviceOf(context) : undefined);
}

/** Returns the request for the first page of entries, for `--curl`. */
export async function firstRequest(
  filter: LogFilter,
  page: PageOptions = { pageSize: MAX_PAGE_SIZE },
): Promise<PreviewRequest> {
  const [{ listLogsRequest }, { pageRequest }] = await Promise.all([
    import('../client/api/logs.ts'),
    import('../client/api/pages.ts'),
  ]);
  return pageRequest(listLogsRequest(filter), page);
}
