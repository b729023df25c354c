import { formatNumber } from '../render/quantity.ts';
import type { View } from '../render/view.ts';

/** What a next request file came to. */
export interface NextRequest {
  readonly file: string;
  readonly rows: number;
  /** Rows with a new token in place of the old one. */
  readonly replaced: number;
  /** Rows as they were. */
  readonly kept: number;
  /** Of those kept, rows that the service took offence at: they want mending before they are sent. */
  readonly to_mend: number;
  readonly dropped: number;
  readonly dropped_by_code: Readonly<Record<string, number>>;
  /** The file that lists the dropped rows; null where none was asked for. */
  readonly dropped_file: string | null;
}

/** How a next request is shown. */
export const nextRequestView: View<NextRequest> = {
  name: 'next request',
  fields: [
    'file',
    'rows',
    'replaced',
    'kept',
    'to_mend',
    'dropped',
    'dropped_by_code',
    'dropped_by_code.*',
    'dropped_file',
  ],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    { path: 'replaced', kind: 'number' },
    { path: 'kept', kind: 'number' },
    { path: 'to_mend', kind: 'number' },
    { path: 'dropped', kind: 'number' },
  ],
};

/** The counts in a sentence, for stderr. */
export function nextRequestWords(next: NextRequest): string {
  const { rows, replaced, kept, to_mend: toMend, dropped } = next;
  const by = Object.entries(next.dropped_by_code).map(([code, count]) => `${code} ${formatNumber(count)}`);
  const mend = toMend > 0 ? ` (${formatNumber(toMend)} want mending)` : '';
  const why = by.length > 0 ? ` (${by.join(', ')})` : '';
  return `${formatNumber(rows)} rows: ${formatNumber(replaced)} replaced, ${formatNumber(kept)} kept${mend}; ${formatNumber(dropped)} dropped${why}`;
}
