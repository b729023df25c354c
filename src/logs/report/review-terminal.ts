import type { Context } from '../../cli/app/command.ts';
import { drawSparkline } from '../../cli/output/bars.ts';
import { cleanText, hangingIndent, wrapWords } from '../../cli/output/text.ts';
import { countText, formatNumber, utcTime } from '../../cli/output/time.ts';
import { MARKS, paint } from '../../cli/output/view.ts';
import { type ActorLabels, actorText, entityText } from '../actor.ts';
import { operationTone } from '../view.ts';
import { type DeletedEntity, timelessWarnings } from './deleted.ts';
import {
  type ActorShare,
  byActor,
  changedKind,
  deletedKind,
  type Findings,
  headingOf,
  type Part,
  REVIEW_PARTS,
  skippedText,
} from './findings.ts';
import { type Review, signedText } from './review-page.ts';
import type { ReviewRow } from './review.ts';

/** The most lines of a detailed list. */
const MAX_ROWS = 20;
/** The most deleted entities that are listed without --verbose. */
const FEW_DELETED = 5;
const NAME_COLUMNS = 40;

type Show = Pick<Context, 'out' | 'palette' | 'unicode' | 'plain'>;

type ShowReview = Show & Pick<Context, 'marks' | 'globals'>;

/**
 * Draws the review for people, on about one screen: missing ranges, what each actor deleted and changed, what is new, and the
 * hours. With `isVerbose`, all deleted entities and the other entries follow in detail.
 */
export function drawReview(context: ShowReview, review: Review, labels: ActorLabels, isVerbose: boolean): string {
  const { out, palette } = context;
  const title = `${countText(review.entries, 'log entry')} on ${review.day} (UTC), tenant ${review.tenant_id}`;
  const lines = wrapWords(cleanText(title), out.width).map((line) => palette.strong(line));
  lines.push(...coverageLines(context, review));
  for (const signature of review.signed)
    lines.push(
      ...wrapWords(cleanText(signedText(signature)), out.width).map(signature.is_current ? palette.good : palette.warn),
    );
  lines.push('');
  const most = isVerbose ? { kinds: Infinity } : {};
  const isNewSkipped = review.new_actors === null && review.new_operations === null;
  const parts = isNewSkipped ? REVIEW_PARTS.filter(([name]) => name !== 'new_operations') : REVIEW_PARTS;
  for (const [name, heading, nothing] of parts) {
    const title = isNewSkipped && name === 'new_actors' ? 'New actors and operations' : heading;
    lines.push(...summaryLines(context, review, labels, [name, title, nothing], most));
  }
  lines.push(...hourLines(context, review));
  const isShort = review.deleted.length <= FEW_DELETED;
  if (isVerbose || isShort) lines.push(...deletedLines(context, review, labels));
  if (!isVerbose) return `${lines.join('\n')}\n`;
  for (const [name, heading] of REVIEW_PARTS) {
    const rows = review[name];
    if (name === 'deletions' || rows === null || rows.length === 0) continue;
    lines.push('', palette.strong(heading), ...rowLines(context, rows, labels));
  }
  return `${lines.join('\n')}\n`;
}

function coverageLines({ out, palette, marks }: ShowReview, review: Review): string[] {
  const { missing } = review;
  const covered = palette.good(`${marks ? MARKS.good : ''}the archive covers the whole day`);
  const warnings = [
    ...missing.map(
      ({ from, to, reason }) => `entries may be missing from ${utcTime(from)} to ${utcTime(to)}: ${reason}`,
    ),
    ...timelessWarnings(review),
  ];
  return [
    ...(missing.length === 0 ? [covered] : []),
    ...warnings.flatMap((words) => wrapWords(cleanText(words), out.width).map(palette.warn)),
  ];
}

/** Draws the deleted entities, one a line: with their whole ids where they fit, in a pipe and with --wide. */
function deletedLines(
  { out, palette, globals }: ShowReview,
  { deleted, findings_entries: counts }: Review,
  labels: ActorLabels,
): string[] {
  if (deleted.length === 0) return [];
  const shown = deleted.slice(0, MAX_ROWS);
  const drawn = [wholeEntity, entityText].map((textOf) => entityLines(shown, labels, textOf));
  const width = out.isTerminal && !globals.wide ? out.width : Infinity;
  const lines = drawn.find((some) => some.every(({ length }) => length <= width)) ?? drawn[1] ?? [];
  const more = (counts.deletions ?? 0) - shown.length;
  if (more > 0) lines.push(`  and ${formatNumber(more)} more (-o json shows the first thousand)`);
  const tone = operationTone('delete');
  return ['', paint('Deleted', tone, palette), ...lines];
}

function entityLines(
  rows: readonly DeletedEntity[],
  labels: ActorLabels,
  textOf: (entity: DeletedEntity) => string,
): string[] {
  const entities = rows.map((row) => cleanText(textOf(row)));
  const width = Math.max(...entities.map(({ length }) => length));
  return rows.map((row, index) =>
    `  ${(row.created_at?.slice(11, 19) ?? '').padEnd('00:00:00'.length)}  ${(entities[index] ?? '').padEnd(width)}  ${cleanText(actorText(row, labels))}`.trimEnd(),
  );
}

function wholeEntity({ entity_type: type, entity_id: id }: DeletedEntity): string {
  return [type, id].filter(Boolean).join(' ');
}

function rowLines(context: Show, rows: readonly ReviewRow[], labels: ActorLabels): string[] {
  const { out, palette } = context;
  const shown = rows.slice(0, MAX_ROWS).map((row) => ({ row, name: shorten(changedKind(row), NAME_COLUMNS, context) }));
  const countWidth = Math.max(...shown.map(({ row }) => formatNumber(row.count).length));
  const nameWidth = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(({ row, name }) => {
    const { count, first_at: first, last_at: last, operation } = row;
    const from = first?.slice(11, 16) ?? 'no time';
    const to = last?.slice(11, 16) ?? from;
    const time = (from === to ? from : `${from}-${to}`).padEnd('00:00-23:59'.length);
    const number = `  ${formatNumber(count).padStart(countWidth)}  `;
    const label = nameWidth > 0 ? `${name.padEnd(nameWidth)}  ` : '';
    const lead = `${number}${paint(label, operationTone(operation), palette)}${time}  `;
    const leadWidth = number.length + label.length + time.length + 2;
    return hangingIndent(lead, leadWidth, cleanText(actorText(row, labels)), out.width).trimEnd();
  });
  if (rows.length > MAX_ROWS) lines.push(`  and ${rows.length - MAX_ROWS} more (-o json shows them)`);
  return lines;
}

function hourLines(context: Show, { hours, median, busy_hours: busy }: Review): string[] {
  const { out, palette, plain } = context;
  const peak = `median ${formatNumber(median)}, most ${formatNumber(Math.max(...hours))}`;
  const title = 'By hour, from 00:00:';
  const drawn = drawSparkline(hours, context);
  const parts = plain ? [peak] : [palette.accent(drawn), peak];
  const isOneLine = plain || [title, drawn, peak].join('  ').length <= out.width;
  const head = palette.strong(title);
  return [
    ...(isOneLine ? [[head, ...parts].join(plain ? ' ' : '  ')] : [head, ...parts.map((part) => `  ${part}`)]),
    ...busy.flatMap(({ hour, count }) =>
      wrapWords(`${hour.slice(11, 16)}: ${formatNumber(count)}, more than four times the median`, out.width - 2).map(
        (line) => `  ${palette.warn(line)}`,
      ),
    ),
  ];
}

/** The most actors, and kinds of each, that a part of the summary names, so that the summary fits a screen. */
const MAX_ACTORS = 3;
const MAX_KINDS = { deletions: 2, changes: 1 };
const ACTOR_COLUMNS = 28;

/** Returns a part of the findings for a terminal: who did how much, or the sentence for none. */
export function summaryLines(
  context: Show,
  review: Findings,
  labels: ActorLabels,
  [name, heading, nothing]: Part,
  { actors = MAX_ACTORS, kinds = name === 'deletions' ? MAX_KINDS.deletions : MAX_KINDS.changes } = {},
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
function shorten(text: string, most: number, { unicode }: Pick<Context, 'unicode'>): string {
  const clean = cleanText(text);
  const end = unicode ? '…' : '...';
  return clean.length > most ? clean.slice(0, most - end.length) + end : clean;
}
