// The printed row of `svc au refresh`.

import { toneOf } from '../job/job-view.ts';
import type { View } from '../../cli/output/view.ts';

/** The state of a cycle after the command. Unknown members are null. */
export interface RefreshRow {
  readonly cycle: string;
  readonly status: string;
  /** The number of rows in the request. */
  readonly rows: number;
  /** Rows of the export that are not in the request, by reason; null if not known. */
  readonly dropped: Readonly<Record<string, number>> | null;
  /** Rows of a changed export that are not sent without `--add`; null if the export is unchanged. */
  readonly new_rows: number | null;
  readonly jobs: readonly string[];
  readonly request: string;
  readonly results: string | null;
  readonly updated: number | null;
  readonly warned: number | null;
  readonly errors: number | null;
  readonly unknown: number | null;
  readonly unchanged: number | null;
  readonly report: string | null;
  readonly new_tokens: number | null;
  /** The file with the new tokens. */
  readonly replace: string | null;
  readonly next: string | null;
  readonly next_rows: number | null;
  readonly excluded: number | null;
  readonly exclusions: string | null;
}

export type PrintRow = (row: RefreshRow) => Promise<void>;

/** Members that the headline and the note about new tokens already show. */
const COUNTED = ['updated', 'warned', 'errors', 'unknown', 'unchanged', 'new_tokens', 'excluded'] as const;
/** Members for programs only. */
const BESIDE = ['jobs', 'request', 'results', 'replace', 'exclusions'] as const;
/** The reasons why rows of an export are not in the request. */
const REASONS = ['repeated_tokens', 'excluded_tokens', 'refused'] as const;

function hasResults({ results }: RefreshRow): boolean {
  return results !== null;
}

export const refreshView: View<RefreshRow> = {
  name: 'refresh',
  fields: [
    'cycle',
    'status',
    'rows',
    'dropped',
    'dropped.*',
    'new_rows',
    'jobs',
    'request',
    'results',
    'updated',
    'warned',
    'errors',
    'unknown',
    'unchanged',
    'report',
    'new_tokens',
    'replace',
    'next',
    'next_rows',
    'excluded',
    'exclusions',
  ],
  columns: [
    // The headline above counts the results, and the note below names the file with new tokens.
    { path: 'cycle', kind: 'text', repeats: hasResults },
    { path: 'status', kind: 'status', paint: toneOf, repeats: hasResults },
    { path: 'rows', kind: 'number', repeats: hasResults },
    ...COUNTED.map((path) => ({ path, kind: 'number' as const, repeats: () => true })),
    ...BESIDE.map((path) => ({ path, kind: 'text' as const, repeats: () => true })),
    ...REASONS.map((reason) => ({
      path: `dropped.${reason}`,
      kind: 'number' as const,
      repeats: ({ dropped }: RefreshRow) => (dropped?.[reason] ?? 0) === 0,
    })),
    // A table shows only known members.
    ...(['new_rows', 'next_rows'] as const).map((path) => ({
      path,
      kind: 'number' as const,
      repeats: (row: RefreshRow) => row[path] === null,
    })),
    ...(['report', 'next'] as const).map((path) => ({
      path,
      kind: 'text' as const,
      repeats: (row: RefreshRow) => row[path] === null,
    })),
  ],
};
