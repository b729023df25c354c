import { toneOf } from '../job/job-view.ts';
import type { View } from '../../cli/output/view.ts';

/**
 * How far a cycle is. `status`, `jobs` and `request` are of the request that the command goes on with; all other members are
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
  readonly jobs: readonly string[];
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

/** Members that the headline and the line about new tokens give. */
const COUNTED = ['updated', 'warned', 'errors', 'unchanged', 'new_tokens', 'excluded'] as const;
/** Members for programs, and files that nobody opens after each refresh. */
const BESIDE = ['jobs', 'request', 'results', 'replace', 'exclusions'] as const;
/** Why rows of an export are not in the request. */
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
    // The headline above says how the rows of a cycle ended, and the line below where its new tokens are.
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
    // People read only what is known by now.
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
