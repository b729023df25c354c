import type { ResultStep } from '../config/values.ts';
import { csvRow, excelSafeRows } from '../output/csv.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';
import { readResults } from './read-results.ts';
import codes from './result-codes.json' with { type: 'json' };

/** What a result means for a token, by the prefix of its code. */
export type ResultClass = 'updated' | 'warned' | 'error' | 'unknown';

/** What to do with the token in the next request file. */
export type NextStep = 'replace' | 'keep' | 'exclude' | 'consider_excluding' | 'fix';

/** What is known of one result code. */
export interface ResultCode {
  readonly class: ResultClass;
  readonly meaning: string;
  /** What the operator should do. */
  readonly action: string;
  readonly next: NextStep;
  /** False for a code that the interface does not name. */
  readonly known: boolean;
}

/** The result codes of the interface, in its order. The service may send others. */
const RESULT_CODES = new Map(
  Object.entries(codes).map(([code, known]) => [
    code,
    { ...(known as Omit<ResultCode, 'known'>), known: true },
  ]),
);

/** What is known of a code; for one that is not known, what its prefix says. */
export function explainResultCode(code: string): ResultCode {
  const known = RESULT_CODES.get(code);
  if (known !== undefined) return known;
  const group = PREFIXES[code.slice(0, 3)] ?? 'unknown';
  return { class: group, ...UNKNOWN_CODES[group], known: false };
}

const PREFIXES: Readonly<Record<string, ResultClass>> = { UPD: 'updated', WRN: 'warned', ERR: 'error' };

const UNKNOWN_CODES: Readonly<Record<ResultClass, Omit<ResultCode, 'class' | 'known'>>> = {
  updated: { meaning: 'an unknown update', action: 'use the new token where there is one', next: 'replace' },
  warned: { meaning: 'an unknown warning', action: 'look the code up with the service', next: 'keep' },
  error: { meaning: 'an unknown error', action: 'look the code up with the service', next: 'fix' },
  unknown: { meaning: 'an unknown code', action: 'look the code up with the service', next: 'keep' },
};

/** Steps that the operator chose for result codes instead of the defaults. */
export type Actions = ReadonlyMap<string, ResultStep>;

/** What is to be done with a row that came with this code: the operator's choice, else what the code asks for. */
export function stepFor(code: string, actions: Actions): NextStep {
  return actions.get(code) ?? explainResultCode(code).next;
}

/** What a code asks for in words: the operator's choice where it is another one, else what comes with the code. */
export function actionFor(code: string, actions: Actions): string {
  const { next, action } = explainResultCode(code);
  const chosen = actions.get(code);
  return chosen === undefined || chosen === next ? action : `${CHOSEN[chosen]} (your choice)`;
}

const CHOSEN: Readonly<Record<ResultStep, string>> = {
  replace: 'use the new token where there is one',
  keep: 'keep the token in future requests',
  exclude: 'leave the token out of future requests',
  fix: 'fix the row or the token before it is sent again',
};

/** Where a row of a result file belongs, by what there is to do, in the order of a report. Also names of files. */
export const ACTION_GROUPS = ['update', 'contact', 'exclude', 'fix', 'keep', 'unknown'] as const;

/** A group of rows with the same thing to do. */
export type ActionGroup = (typeof ACTION_GROUPS)[number];

/** The one group for a row: `keep` is for rows that ask for nothing. */
export function actionGroupOf(code: string, hasNewToken: boolean, actions: Actions): ActionGroup {
  const { known, class: group, next } = explainResultCode(code);
  const step = actions.get(code) ?? next;
  if (step === 'replace') return hasNewToken ? 'update' : 'keep';
  if (step === 'exclude') return 'exclude';
  if (actions.has(code)) return step === 'fix' ? 'fix' : 'keep';
  if (!known) return 'unknown';
  if (step === 'consider_excluding') return 'exclude';
  if (code === 'WRN_CONTACT_CARDHOLDER') return 'contact';
  return group === 'error' ? 'fix' : 'keep';
}

/** How often one code came, and what it asks for. */
export interface CodeCount extends ResultCode {
  readonly code: string;
  readonly count: number;
}

/** What a result file holds, in numbers. Rows without any update are in no result file. */
export interface ResultSummary {
  readonly rows: number;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  /** Rows with codes of no known prefix. */
  readonly unknown: number;
  /** Codes in the order of the interface, then those not known there, by name. */
  readonly codes: readonly CodeCount[];
  /** Names of the columns that the interface does not name; empty for a file without rows. */
  readonly extraColumns: readonly string[];
}

/** Stands for all codes beyond the first thousand different ones: no result file, but memory stays flat. */
const OTHER_CODES = '(other codes)';

const MOST_CODES = 1_000;

/** Counts the rows of a result file by code and class, in flat memory. Fails as `readResults` does. */
export async function summarizeResults(source: AsyncIterable<Uint8Array>): Promise<ResultSummary> {
  const counts = new Map<string, number>();
  let extraColumns: readonly string[] = [];
  for await (const rows of readResults(source)) {
    for (const { result_code, extra, row } of rows) {
      if (row === 1) extraColumns = Object.keys(extra);
      const code = counts.size < MOST_CODES || counts.has(result_code) ? result_code : OTHER_CODES;
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
  }
  const order = [...RESULT_CODES.keys(), ...[...counts.keys()].toSorted()];
  const codes = [...counts]
    .map(([code, count]) => countOf(code, count))
    .toSorted((a, b) => order.indexOf(a.code) - order.indexOf(b.code));
  const total = (...groups: readonly ResultClass[]): number =>
    codes.reduce((sum, code) => (groups.includes(code.class) ? sum + code.count : sum), 0);
  return {
    rows: total('updated', 'warned', 'error', 'unknown'),
    updated: total('updated'),
    warned: total('warned'),
    errors: total('error'),
    unknown: total('unknown'),
    codes,
    extraColumns,
  };
}

function countOf(code: string, count: number): CodeCount {
  return { code, count, ...explainResultCode(code) };
}

/** A row of a result file, and the group that it belongs to. */
export interface GroupedRow {
  readonly group: ActionGroup;
  /** The header of every group: the interface's columns, then all others of the file. */
  readonly header: string;
  /** The row below that header, with its line end. */
  readonly line: string;
}

/** Sorts the rows of a result file by what there is to do, in their order and with all their columns; in batches. */
export async function* splitResults(
  source: AsyncIterable<Uint8Array>,
  actions: Actions,
  excelSafe = false,
): AsyncGenerator<readonly GroupedRow[], void> {
  let names: readonly string[] | undefined;
  for await (const rows of readResults(source)) {
    const columns = (names ??= [...RESULT_COLUMNS, ...Object.keys(rows[0]?.extra ?? {})]);
    const lineOf = (cells: readonly string[]): string =>
      excelSafe ? excelSafeRows(columns, [cells]) : csvRow(cells);
    const header = lineOf(columns);
    yield rows.map((row) => ({
      group: actionGroupOf(row.result_code, row.new_token !== '', actions),
      header,
      line: lineOf([...RESULT_COLUMNS.map((name) => row[name]), ...Object.values(row.extra)]),
    }));
  }
}
