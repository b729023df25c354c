import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, type Input, reading, value } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { text, trimmedToSend } from '../../cli/app/value-parsers.ts';
import { cleanText } from '../../cli/output/text.ts';
import { wrapWords } from '../../cli/output/wrap.ts';
import { formatDuration, parseTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Column, View } from '../../cli/output/view.ts';
import type { Log } from '../../schema/log.ts';
import { ownMember } from '../../schema/own-member.ts';
import { ActorNames, shortId } from '../actor.ts';
import { entityFilter, filterOf, matches, reportUnmatchedFilters } from '../filter.ts';
import { MalformedEntries } from '../malformed-entries.ts';
import { ENTITY_PARAMETERS, firstRequest, FULL_PARAMETER, RETENTION_PARAMETERS, STRICT_PARAMETER } from '../options.ts';
import { searchArchive } from '../search/search-archive.ts';
import { shownTime } from '../sentences.ts';
import { logView, MIN_WIDTHS } from '../view.ts';

const NO_FILTERS = {
  since: undefined,
  until: undefined,
  limit: undefined,
  operation: [],
  actor: [],
  actorType: [],
  grep: undefined,
  excludeOperation: [],
  excludeEntityType: [],
};

const parameters = {
  id: argument('<entity-id>', 'the id of the entity', trimmedToSend),
  archive: reading(
    value('--archive <location>', 'the archive to read first: a directory, or s3://bucket/prefix', text),
  ),
  entityType: ENTITY_PARAMETERS.entityType,
  retention: RETENTION_PARAMETERS.retention,
  full: FULL_PARAMETER,
  strict: STRICT_PARAMETER,
} as const;

export const history = defineCommand({
  description:
    'Prints all that is known about one entity, oldest first: the entries of an archive, then what the service has beyond it, without gaps or duplicates. Without --archive, prints only what the service still has. Without a key, only the archive is read. A table begins with a line that sums up the entries.',
  examples: [
    ['svc logs history 3f2c… --archive audit', 'from its creation until now'],
    ['svc logs history 3f2c… --entity-type card', 'what the service still has, faster with the type'],
  ],
  permissions: ['log:read', 'tenant:read'],
  exitCodes: [5, 12, [14, 'the archive has a gap, or ended too early (with --strict)']],
  paged: true,
  endsWithReader: true,
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const { id, archive } = input;
    const about = input.strict ? '--strict' : '--full';
    if ((input.strict || input.full) && archive === undefined)
      throw new SvcError('usage', `${about} is about an archive`, { hint: `Add --archive, or leave ${about} out.` });
    const actors = namesOf(context, archive);
    const print = await historyPrinter(context, id, actors);
    const read = archive === undefined ? readService : readArchive;
    await read(context, input, { actors, print }).catch((error: unknown) => {
      throw withWholeIds(error, input);
    });
  },
  async request(_context, { id: entityId, entityType }) {
    return firstRequest(entityFilter({ entityType, entityId }));
  },
});

type HistoryInput = Input<typeof parameters>;

interface Reading {
  readonly actors: ActorNames;
  readonly print: Awaited<ReturnType<typeof historyPrinter>>;
}

/** Returns the names of actors for people. Output for programs, and archives read without a key, request none. */
function namesOf(context: Context, archive: string | undefined): ActorNames {
  const actors = new ActorNames(context, archive === undefined ? serviceOf(context) : undefined);
  actors.isOffline = !context.out.isTerminal || !isDrawn(context);
  return actors;
}

/** Prints what the service still has of the entity. */
async function readService(
  context: Context,
  { id: entityId, entityType, retention }: HistoryInput,
  { actors, print }: Reading,
): Promise<void> {
  const [{ liveEntries }, { serviceLogs }, { beginNow }, entry] = await Promise.all([
    import('../search/search-segments.ts'),
    import('../read-range.ts'),
    import('../tail/follow-logs.ts'),
    import('../entry.ts'),
  ]);
  const input = await filterOf(context, { ...NO_FILTERS, entityType, entityId });
  const client = await context.client();
  const retentionMs = retention ?? entry.DEFAULT_RETENTION_MS;
  // The retention counts back from the service's time, which a request has to show first.
  const begin = await beginNow(client, entityFilter(input), (now) => now - retentionMs);
  const entries = liveEntries(serviceLogs(client, entityFilter(input)), begin, {
    overlapMs: entry.DEFAULT_OVERLAP_MS,
    retentionMs,
    matches: (log) => matches(log, input),
    onGap: () => undefined,
  });
  const malformed = new MalformedEntries();
  const shown = await print(malformed.counted(actors.learned(input.entity.only(logsIn(entries.read())))));
  malformed.warn(context);
  // A mistyped id is an error, and proves nothing about entries.
  await reportUnmatchedFilters(context, input);
  if (shown === 0) context.notices.note('no log entries');
  const source = `from the last ${formatDuration(retentionMs)}`;
  context.notices.note(`${source}; --archive adds what is older`);
}

/** Prints what an archive has of the entity and, if there is a key, what the service has beyond it. */
async function readArchive(
  context: Context,
  { id: entityId, archive: dir = '', entityType, retention, full, strict }: HistoryInput,
  { actors, print }: Reading,
): Promise<void> {
  const typed = { ...NO_FILTERS, entityType, entityId, retention, full, strict, dir, isHistory: true };
  try {
    await searchArchive(context, { ...typed, live: true }, print, { actors });
  } catch (error) {
    if (!isWithoutKey(error)) throw error;
    const newer = "newer entries need a key, which 'svc login' stores";
    await searchArchive(context, { ...typed, live: false, newer }, print, { actors });
  }
}

/** Adds a command for each entity with an id that begins as the typed one. */
function withWholeIds(error: unknown, { archive, entityType }: HistoryInput): unknown {
  const near = isSvcError(error, 'usage') ? error.facts?.['near'] : undefined;
  if (!isSvcError(error) || !Array.isArray(near)) return error;
  const filters = [...option('--archive', archive), ...option('--entity-type', entityType)];
  return error.with({ alternatives: near.map((id) => ['logs', 'history', String(id)].concat(filters)) });
}

/** Whether a command failed before its first request because no key, or no service, is configured. */
function isWithoutKey(error: unknown): boolean {
  return isSvcError(error, 'key_missing') || (isSvcError(error, 'config') && error.facts?.['missing'] === 'base_url');
}

async function* logsIn(batches: AsyncIterable<readonly { readonly log: Log }[]>): AsyncGenerator<readonly Log[]> {
  for await (const batch of batches) yield batch.map(({ log }) => log);
}

/** How a summary shows the actor of an entry, and a time in epoch milliseconds. */
interface SummaryWords {
  readonly actorOf: (log: Log) => string;
  readonly timeOf: (at: number) => string;
}

/** Sums up the entries about one entity, which come oldest first, in constant memory. */
class EntitySummary {
  entries = 0;
  /** The types under which entries name the entity. */
  readonly types = new Set<string>();
  #id: string;
  #created: Log | undefined;
  readonly #last = new Map<string, Log>();

  constructor(id: string) {
    this.#id = id;
  }

  add(log: Log): void {
    this.entries += 1;
    // The operator may have typed only the beginning of the id, or other letters than the service writes.
    if (log.entity_id) this.#id = log.entity_id;
    if (log.entity_type) this.types.add(log.entity_type);
    if (log.operation === 'create') this.#created ??= log;
    if (log.operation) this.#last.set(log.operation, log);
  }

  /** Returns the entity with the types that entries give it. */
  get entity(): string {
    return [[...this.types].join(' and '), this.#id].filter((part) => part !== '').join(' ');
  }

  /**
   * Returns the number of entries, the first creation that was read, and the last deletion; the last update or read if
   * there is no deletion.
   */
  text(words: SummaryWords): string {
    const last = ['delete', 'update', 'read'].find((operation) => this.#last.has(operation));
    const parts = [
      countText(this.entries, 'entry'),
      this.#created && `created ${doneBy(this.#created, words)}`,
      last && `last ${ownMember(PAST, last) ?? last} ${doneBy(this.#last.get(last), words)}`,
    ];
    return `${this.entity}: ${parts.filter(Boolean).join(', ')}`;
  }
}

const PAST: Readonly<Record<string, string>> = { delete: 'deleted', update: 'updated', read: 'read' };

function doneBy(log: Log | undefined, { actorOf, timeOf }: SummaryWords): string {
  if (log === undefined) return '';
  const at = parseTime(log.created_at);
  const actor = actorOf(log);
  const by = actor === '' ? '(the service recorded no actor)' : `by ${actor}`;
  return `${at === undefined ? 'at an unknown time' : timeOf(at)} ${by}`;
}

/** The most entries that are held back for the line above them. */
const MAX_HELD = 10_000;
/** A terminal of this width has room for the whole id of an actor beside a time, an operation and a name. */
const ROOMY_COLUMNS = 96;

/**
 * Checks `--fields`, and returns the function that prints the entries about an entity. People get a line that sums them up
 * above the table, or below it if there are very many entries.
 */
async function historyPrinter(context: Context, id: string, actors: ActorNames) {
  const summary = new EntitySummary(id);
  const logs: Log[] = [];
  const isForPeople = isDrawn(context);
  const print = await listPrinter(context, isForPeople ? historyView(context, actors, summary) : logView);
  async function* noted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    let isHeld = isForPeople;
    for await (const batch of batches) {
      for (const log of batch) summary.add(log);
      const kept = isHeld ? batch.slice(0, MAX_HELD - logs.length) : [];
      logs.push(...kept);
      if (isHeld && logs.length < MAX_HELD) continue;
      yield isHeld ? [...logs, ...batch.slice(kept.length)] : batch;
      isHeld = false;
    }
    if (!isHeld || logs.length === 0) return;
    await context.out.write(headText(context, summary, actors));
    yield logs;
  }
  return async (batches: AsyncIterable<readonly Log[]>): Promise<number> => {
    const shown = await print(noted(batches));
    if (isForPeople && shown >= MAX_HELD) context.notices.note(textOf(context, summary, actors));
    return shown;
  };
}

function textOf(context: Context, summary: EntitySummary, actors: ActorNames): string {
  return summary.text({ actorOf: (log) => actors.textOf(log), timeOf: (at) => shownTime(context, at) });
}

function headText(context: Context, summary: EntitySummary, actors: ActorNames): string {
  const { out, palette, plain } = context;
  const width = out.isTerminal && !plain ? out.width : Infinity;
  const lines = wrapWords(cleanText(textOf(context, summary, actors)), width);
  return `${lines.map((line) => palette.strong(line)).join('\n')}\n\n`;
}

/** Returns the columns of a history. The type of the entity is left out while all entries have the same. */
function historyView(context: Context, actors: ActorNames, { types }: EntitySummary): View<Log> {
  const { out, globals, plain } = context;
  const isShort = out.isTerminal && !globals.wide && !plain && out.width < ROOMY_COLUMNS;
  const columns: Column<Log>[] = [
    columnOf('created_at'),
    columnOf('operation'),
    { ...columnOf('entity_type'), repeats: () => types.size < 2 },
    { ...columnOf('actor_type'), show: (_, log) => actors.textOf(log), minWidth: MIN_WIDTHS.actor },
    {
      path: 'actor_id',
      kind: 'id',
      priority: 4,
      show: (value: unknown) => (isShort && typeof value === 'string' ? shortId(value) : value),
    },
    columnOf('message'),
  ];
  return { ...logView, columns };
}

function columnOf(path: string): Column<Log> {
  return logView.columns.find((column) => column.path === path) ?? { path, kind: 'text' };
}
