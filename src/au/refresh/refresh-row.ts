import { toneOf } from '../run/run-view.ts';
import type { View } from '../../cli/output/view.ts';

/**
 * How far a cycle is. `status`, `run` and `request` are of the request that the command goes on with; all other members are
 * of the whole cycle. Members that are not known yet are null.
 */
export interface RefreshRow {
  readonly cycle: string;
  readonly status: string;
  /** Rows of the requests whose results are counted, each once; those of the request while there are no results. */
  readonly rows: number;
  /** Rows of the export that are not in the request, by the reason; null if that is not known. */
  readonly dropped: Readonly<Record<string, number>> | null;
  /** Rows of a changed export that are not sent without `--add`; null if the export is unchanged. */
  readonly new_rows: number | null;
  readonly run: string | null;
  readonly request: string;
  readonly results: string | null;
  readonly updated: number | null;
  readonly warned: number | null;
  readonly errors: number | null;
  readonly unchanged: number | null;
  readonly report: string | null;
  readonly new_tokens: number | null;
  /** The file that has the new tokens. */
  readonly replace: string | null;
  readonly next: string | null;
  readonly next_rows: number | null;
  readonly excluded: number | null;
  readonly exclusions: string | null;
}

export type PrintRow = (row: RefreshRow) => Promise<void>;

export const refreshView: View<RefreshRow> = {
  name: 'refresh',
  fields: [
    'cycle',
    'status',
    'rows',
    'dropped',
    'dropped.*',
    'new_rows',
    'run',
    'request',
    'results',
    'updated',
    'warned',
    'errors',
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
    { path: 'status', kind: 'status', paint: toneOf },
    // People read only what is known by now.
    ...(['new_rows', 'new_tokens', 'next_rows', 'excluded', 'updated', 'warned', 'errors', 'unchanged'] as const).map(
      (path) => ({ path, kind: 'number' as const, repeats: (row: RefreshRow) => row[path] === null }),
    ),
    ...(['results', 'report', 'replace', 'next', 'exclusions'] as const).map((path) => ({
      path,
      kind: 'text' as const,
      repeats: (row: RefreshRow) => row[path] === null,
    })),
  ],
};
