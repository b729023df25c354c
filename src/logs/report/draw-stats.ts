import type { Context } from '../../cli/app/command.ts';
import { drawBar, drawSparkline } from '../../cli/output/bars.ts';
import { cleanText, hangingIndent, wrapWords } from '../../cli/output/text.ts';
import { countText, fixedPercent, formatNumber, parseTime } from '../../cli/output/time.ts';
import { paint } from '../../cli/output/view.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { type Actor, actorText } from '../actor.ts';
import { type Interval, OTHERS, restShare, type StatsBy, type StatsRow } from '../count.ts';
import { shownTime } from '../sentences.ts';
import { operationTone } from '../view.ts';

const BAR_COLUMNS = 16;
const MAX_BARS = 6;
/** The share of own reads of the logs from which on the shares of the other entries differ visibly. */
const MUCH_OWN = 0.1;
const NAME_COLUMNS = 40;
/** The numbers of hours that a mark of the sparkline can stand for. */
const HOURS_A_MARK = [1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 168] as const;

const TITLES = { entity_type: 'entity types', operation: 'operations', actor: 'actors' } as const;

type Show = Pick<Context, 'out' | 'palette' | 'unicode' | 'plain' | 'settings' | 'clock'>;

interface OwnRows {
  readonly actor: Actor;
  readonly count: number;
  readonly rest: readonly StatsRow[];
}

/** What is drawn beside the rows. */
interface DrawOptions {
  /** Returns an actor for people. */
  readonly actorOf?: ((actor: Actor) => string) | undefined;
  /** What the entries are of, such as a shift. */
  readonly title?: string | undefined;
  /** What stands below the title. */
  readonly head?: readonly string[] | undefined;
  /** The own reads of the logs, and the rows of all other entries. */
  readonly own?: OwnRows | undefined;
}

/** Draws a sparkline over the hours, then a bar for each value, the most frequent first. */
export function drawStats(
  context: Show,
  rows: readonly StatsRow[],
  interval: Interval,
  { actorOf = actorText, title, head = [], own }: DrawOptions = {},
): string {
  const all = rows.find(({ by }) => by === 'all')?.count ?? 0;
  const range = `from ${shownTime(context, interval.since)} to ${shownTime(context, interval.until)}`;
  const text = `${title === undefined ? '' : `${title}: `}${countText(all, 'log entry')} ${range}`;
  const lines = [...wrapWords(text, context.out.width).map((line) => context.palette.strong(line)), ...head];
  if (all > 0) {
    lines.push('', ...hourLines(context, rows), ...ownLines(context, all, own, actorOf));
    const rest = own !== undefined && own.count >= all * MUCH_OWN ? own.rest : undefined;
    for (const by of ['entity_type', 'operation', 'actor'] as const)
      lines.push('', ...barLines(context, by, rowsBy(rows, by), { actorOf, rest }));
  }
  return `${lines.join('\n')}\n`;
}

function hourLines(context: Show, rows: readonly StatsRow[]): string[] {
  const hours = rowsBy(rows, 'hour').flatMap(({ value, count }) => {
    const at = parseTime(value ?? '');
    return at === undefined ? [] : [{ at, count }];
  });
  const first = hours[0];
  const last = hours.at(-1);
  if (first === undefined || last === undefined) return [];
  const most = hours.reduce((one, other) => (other.count > one.count ? other : one), first);
  const room = Math.max(10, context.out.width - 2);
  const span = (last.at - first.at) / HOUR_MS + 1;
  const hoursAMark = HOURS_A_MARK.find((size) => span / size <= room) ?? Math.ceil(span / room);
  const marks = Array.from({ length: Math.ceil(span / hoursAMark) }, () => 0);
  for (const { at, count } of hours) {
    const place = Math.floor((at - first.at) / HOUR_MS / hoursAMark);
    marks[place] = (marks[place] ?? 0) + count;
  }
  const peak = `peak: ${formatNumber(most.count)} at ${shownTime(context, most.at)}`;
  if (context.plain) return [peak];
  const unit = hoursAMark === 1 ? 'hour' : `${hoursAMark} hours`;
  return [
    ...wrapWords(`entries per ${unit} since ${shownTime(context, first.at)}`, context.out.width),
    `  ${context.palette.accent(drawSparkline(marks, context))}`,
    hangingIndent('  ', 2, peak, context.out.width),
  ];
}

function barLines(
  context: Show,
  by: keyof typeof TITLES,
  rows: readonly StatsRow[],
  { actorOf, rest }: { readonly actorOf: (actor: Actor) => string; readonly rest?: readonly StatsRow[] | undefined },
): string[] {
  const shown = rows.slice(0, MAX_BARS);
  const most = Math.max(...shown.map(({ count }) => count));
  const names = shown.map((row) => nameOf(row, actorOf));
  const nameWidth = Math.max(...names.map((name) => name.length));
  const countWidth = formatNumber(most).length;
  // A narrow terminal shows only the numbers.
  const columns = context.out.width;
  const restOf = (row: StatsRow): string => (rest === undefined ? '' : restShare(row, rest));
  const restWidth = rest === undefined ? 0 : '  100.0%'.length;
  const room = columns - nameWidth - countWidth - restWidth - '    100.0%    '.length;
  // Names too long for numbers beside them have their numbers on the next line.
  const isNarrow = room < -'  '.length;
  const barWidth = Math.max(0, Math.min(BAR_COLUMNS, room));
  const lines = shown.map((row, index) => {
    const { count, share, value } = row;
    const name = names[index] ?? '';
    const ofRest = restOf(row);
    if (context.plain)
      return `${name}: ${formatNumber(count)} (${fixedPercent(share)}${ofRest === '' ? '' : `, ${ofRest} of the rest`})`;
    const numbers = `${formatNumber(count).padStart(countWidth)}  ${fixedPercent(share).padStart(6)}${ofRest.padStart(restWidth)}`;
    const bar = drawBar(count, most, barWidth, context);
    if (isNarrow) return [...wrapWords(name, columns - 2), `  ${numbers}`].map((line) => `  ${line}`).join('\n');
    const label = paint(name.padEnd(nameWidth), by === 'operation' ? operationTone(value) : undefined, context.palette);
    return `  ${label}  ${numbers}${bar === '' ? '' : `  ${context.palette.accent(bar)}`}`;
  });
  const left = rows.slice(MAX_BARS).reduce((sum, { count }) => sum + count, 0);
  if (left > 0) {
    const more = `and ${rows.length - MAX_BARS} more, with ${countText(left, 'entry')} (-o csv shows them)`;
    lines.push(...wrapWords(more, columns - 2).map((line) => `  ${line}`));
  }
  const title = rest === undefined ? TITLES[by] : `${TITLES[by]} (share of all, and of the rest)`;
  return [...wrapWords(title, columns), ...lines];
}

/** Returns how many entries are own reads of the logs; nothing if own reads are not known. */
function ownLines(context: Show, all: number, own: OwnRows | undefined, actorOf: (actor: Actor) => string): string[] {
  if (own === undefined) return [];
  const text = `reads of the logs by this key (${cleanText(actorOf(own.actor))}): ${formatNumber(own.count)} (${fixedPercent(own.count / all)})`;
  return wrapWords(text, context.out.width);
}

/** Returns a value for people. */
function nameOf({ by, value, actor_type: type }: StatsRow, actorOf: (actor: Actor) => string): string {
  if (value === null) return '(none)';
  if (by === 'actor' && value !== OTHERS) return cleanText(actorOf({ actor_id: value, actor_type: type }));
  const clean = cleanText(value);
  return clean.length > NAME_COLUMNS ? `${clean.slice(0, NAME_COLUMNS - 1)}…` : clean;
}

function rowsBy(rows: readonly StatsRow[], by: StatsBy): StatsRow[] {
  return rows.filter((row) => row.by === by);
}
