import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { formatNumber, utcTime } from '../../cli/output/time.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { type ActorLabels, actorText } from '../actor.ts';
import type { EntitySummary } from './summary.ts';

/** What a page of a history shows. Times are epoch milliseconds. */
export interface HistoryPage {
  readonly summary: EntitySummary;
  /** The first entries; the summary counts all. */
  readonly logs: readonly Log[];
  readonly labels: (log: Log) => ActorLabels;
  /** What was read: an archive, the service, or both. */
  readonly source: string;
  readonly madeAt: number;
}

const COLUMNS = ['Time (UTC)', 'Operation', 'Entity', 'Actor', 'Actor id', 'Message'] as const;

/** Returns the history of an entity as one self-contained page. */
export function historyPage({ summary, logs, labels, source, madeAt }: HistoryPage): string {
  const actorOf = (log: Log): string => actorText(log, labels(log));
  const words = { actorOf, timeOf: utcTime };
  const left = summary.entries - logs.length;
  const rest =
    left > 0
      ? `<p>The page has the first ${formatNumber(logs.length)} entries; ${formatNumber(left)} more follow.</p>`
      : '';
  const heads = COLUMNS.map((name) => `<th scope="col" role="columnheader">${name}</th>`).join('');
  const rows = logs.map((log) => rowText(log, actorOf(log))).join('\n');
  const body = `<p><strong>${escapeHtml(summary.text(words))}</strong></p>
<p class="soft">${escapeHtml(source)}, made ${timeTag(madeAt)}</p>
<section class="long"><h2>Entries</h2>
<table class="stack" role="table"><caption>Oldest first</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table>
${rest}</section>
`;
  const title = `History of ${summary.entity}`;
  return htmlPage({ title, heading: title }, body);
}

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
function rowText(log: Log, actor: string): string {
  const at = parseTime(log.created_at);
  const time = at === undefined ? log.created_at : utcTime(at);
  const cells = [time, log.operation, log.entity_type, actor, log.actor_id, log.message];
  const tags = cells.map(
    (cell, index) => `<td role="cell" data-label="${COLUMNS[index] ?? ''}">${escapeHtml(cell ?? '')}</td>`,
  );
  return `<tr role="row">${tags.join('')}</tr>`;
}
