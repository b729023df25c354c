import type { Context } from '../../cli/app/command.ts';
import { cleanText, wrapWords } from '../../cli/output/text.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { type ActorLabels, actorText } from '../actor.ts';
import { type ActorShare, byActor, changedKind, deletedKind } from './by-actor.ts';
import { type Findings, headingOf, type Part, skippedText } from './parts.ts';
import type { ReviewRow } from './review-row.ts';

/** The most actors, and kinds of each, that a part of the summary names, so that the summary fits a screen. */
const MAX_ACTORS = 3;
const MAX_KINDS = 2;
const NAME_COLUMNS = 40;
const ACTOR_COLUMNS = 28;

type Show = Pick<Context, 'out' | 'palette' | 'unicode' | 'plain'>;

/** Returns a part of the findings for a terminal: who did how much, or the sentence for none. */
export function summaryLines(
  context: Show,
  review: Findings,
  labels: ActorLabels,
  [name, heading, nothing]: Part,
  { actors = MAX_ACTORS, kinds = MAX_KINDS } = {},
): string[] {
  const { out, palette } = context;
  const rows = review[name];
  if (rows === null) return wrapWords(`${heading}: ${skippedText(review)}`, out.width);
  if (rows.length === 0) return wrapWords(`${heading}: ${nothing}`, out.width);
  if (name === 'new_actors' || name === 'new_operations')
    return newLines(context, heading, namesOf(name, rows, labels));
  const shares = byActor(rows, labels, name === 'deletions' ? deletedKind : changedKind);
  const title = wrapWords(headingOf(heading, name, review), out.width).map((line) => palette.strong(line));
  return [...title, ...shareLines(context, shares, { actors, kinds })];
}

function namesOf(name: Part[0], rows: readonly ReviewRow[], labels: ActorLabels): string[] {
  return rows.map((row) => cleanText(name === 'new_actors' ? actorText(row, labels) : changedKind(row)));
}

function newLines({ out, palette }: Show, heading: string, names: readonly string[]): string[] {
  const more = names.length > MAX_ACTORS ? ` and ${formatNumber(names.length - MAX_ACTORS)} more` : '';
  const text = `${heading}: ${formatNumber(names.length)} (${names.slice(0, MAX_ACTORS).join(', ')}${more})`;
  return wrapWords(text, out.width).map((line) => palette.strong(line));
}

function shareLines(
  context: Show,
  shares: readonly ActorShare[],
  most: Readonly<Record<'actors' | 'kinds', number>>,
): string[] {
  const shown = shares
    .slice(0, most.actors)
    .map(({ actor, count, kinds }) => ({ actor: shorten(actor, ACTOR_COLUMNS, context), count, kinds }));
  const countWidth = Math.max(...shown.map(({ count }) => formatNumber(count).length));
  const actorWidth = Math.max(...shown.map(({ actor }) => actor.length));
  const { width } = context.out;
  const lines = shown.map(({ actor, count, kinds }) => {
    if (context.plain) return `${actor}: ${formatNumber(count)} (${kindsText(context, kinds, Infinity, Infinity)})`;
    const number = `  ${formatNumber(count).padStart(countWidth)}  `;
    const lead = `${number}${actor.padEnd(actorWidth)}  `;
    const line = lead + kindsText(context, kinds, most.kinds, Math.max(NAME_COLUMNS / 2, width - lead.length));
    if (line.length <= width) return line.trimEnd();
    // A narrow terminal has the kinds below the actor.
    const indent = ' '.repeat(number.length);
    const below = wrapWords(kindsText(context, kinds, most.kinds, width - indent.length), width - indent.length);
    return `${lead.trimEnd()}\n${below.map((part) => indent + part).join('\n')}`;
  });
  const rest = shares.slice(most.actors);
  const left = rest.reduce((sum, { count }) => sum + count, 0);
  return rest.length === 0
    ? lines
    : [...lines, `  and ${formatNumber(left)} by ${countText(rest.length, 'other actor')}`];
}

/** Returns as many kinds with their counts as fit one line, and at most `most`. */
function kindsText(context: Show, kinds: ActorShare['kinds'], most: number, width: number): string {
  const texts = kinds.map(([kind, count]) => `${formatNumber(count)} ${shorten(kind, NAME_COLUMNS, context)}`);
  for (let shown = Math.min(most, texts.length); shown > 1; shown -= 1) {
    const rest = texts.length - shown;
    const text = texts.slice(0, shown).join(', ') + (rest > 0 ? `, ${rest} more` : '');
    if (text.length <= width) return text;
  }
  const [first = ''] = texts;
  return texts.length > 1 ? `${first}, ${texts.length - 1} more` : first;
}

/** Returns a text cut to `most` characters. */
export function shorten(text: string, most: number, { unicode }: Pick<Context, 'unicode'>): string {
  const clean = cleanText(text);
  const end = unicode ? '…' : '...';
  return clean.length > most ? clean.slice(0, most - end.length) + end : clean;
}
