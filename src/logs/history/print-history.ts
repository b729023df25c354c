import type { Context } from '../../cli/app/command.ts';
import { isDrawn, listPrinter } from '../../cli/app/print.ts';
import { cleanText, wrapWords } from '../../cli/output/text.ts';
import { countText, parseTime } from '../../cli/output/time.ts';
import type { Column, View } from '../../cli/output/view.ts';
import type { Log } from '../../schema/log.ts';
import { ownMember } from '../../schema/own-member.ts';
import type { ActorNames } from '../actor-names.ts';
import { shortId } from '../actor.ts';
import { shownTime } from '../sentences.ts';
import { logView } from '../view.ts';

/** How a summary shows the actor of an entry, and a time in epoch milliseconds. */
export interface SummaryWords {
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
export async function historyPrinter(context: Context, id: string, actors: ActorNames) {
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
    Object.assign({}, columnOf('entity_type'), { repeats: () => types.size < 2 }),
    Object.assign({}, columnOf('actor_type'), { show: (_: unknown, log: Log) => actors.textOf(log), least: 20 }),
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
