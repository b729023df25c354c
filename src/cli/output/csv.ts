import { stringify } from 'csv-stringify/sync';
import { SvcError } from '../../base/errors.ts';
import { jsonLine } from './formats.ts';
import { cleanText, hasRunnerCommand } from './text.ts';
import {
  chooseFields,
  leafPaths,
  memberRedactor,
  projection,
  type Renderer,
  type RenderOptions,
  same,
  valueAt,
} from './view.ts';

/**
 * Writes RFC 4180 with LF: a header, then rows. A nested value is its JSON text, an absent one is empty. A single object
 * has a column for every value, including unknown ones.
 * Cells that begin like a formula are unchanged unless `excelSafe` is set, since a prefix alters the data for every reader
 * but a spreadsheet.
 */
export function csvRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width, excelSafe = false, runnerReads = false, redact = same } = options;
  const paths = chooseFields(view, options.fields) ?? view.fields.filter((field) => !/(?:^|\.)\*$/.test(field));
  const project = projection(view, undefined, options.showUrls ?? false);
  // Only a terminal has a width. There a cell is made safe; elsewhere its bytes stay as the service sent them.
  const safe = (text: string): string => {
    if (runnerReads && hasRunnerCommand(text)) return cleanText(text);
    return width === undefined ? text : cleanText(text, 'keep');
  };
  const header = (columns: readonly string[]): string => {
    const names = columns.map((path) => redact(safe(path)));
    return excelSafe ? excelSafeRows([], [names]) : csvRow(names);
  };
  const rows = (batch: readonly T[], columns = paths): string => {
    const redactors = columns.map((path) => ({ path, redactCell: memberRedactor(path, redact) }));
    const all = batch.map((value) => {
      const shown = project(value);
      return redactors.map(({ path, redactCell }) => {
        const found = valueAt(shown, path);
        const text = redactCell(safe(plain(found)));
        return excelSafe && text === String(found) && typeof found === 'number' ? found : text;
      });
    });
    return excelSafe ? excelSafeRows(columns, all) : csvRows(all);
  };
  const leftOut = new LeftOut(paths);
  // An operator who chose the fields knows that others are missing.
  const isNoted = options.onLeftOut !== undefined && options.fields === undefined;
  return {
    isRedacted: options.redact !== undefined,
    begin: () => header(paths),
    rows: (batch) => {
      if (isNoted) for (const value of batch) leftOut.note(value);
      return rows(batch);
    },
    end: () => {
      if (leftOut.paths.length > 0) options.onLeftOut?.(leftOut.paths);
      return '';
    },
    record: (value) => {
      const columns = options.fields === undefined ? [...paths, ...newPaths(leafPaths(value), paths)] : paths;
      return header(columns) + rows([value], columns);
    },
  };
}

/** The most paths that are collected: a service that uses data as names could send any number. */
const MOST_LEFT_OUT = 100;

/** Collects the paths of values without a column: the header of a list is written before its rows are known. */
class LeftOut {
  readonly paths: string[] = [];
  readonly #known: readonly string[];
  readonly #seen: Set<string>;

  constructor(known: readonly string[]) {
    this.#known = known;
    this.#seen = new Set(known);
  }

  note(value: unknown): void {
    if (this.paths.length >= MOST_LEFT_OUT) return;
    const fresh = leafPaths(value).filter((path) => !this.#seen.has(path));
    for (const path of fresh) this.#seen.add(path);
    this.paths.push(...newPaths(fresh, this.#known));
  }
}

/** Returns the paths of values that one object has beside the known fields. */
function newPaths(paths: readonly string[], known: readonly string[]): string[] {
  return paths.filter((path) => !known.some((field) => covers(field, path) || covers(path, field)));
}

function covers(path: string, other: string): boolean {
  return path === other || other.startsWith(`${path}.`);
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonLine(value);
}

/** The value of a cell; a number is never taken for a formula. */
type Cell = string | number;

/** Writes one line of CSV with its line end. */
export function csvRow(cells: readonly string[]): string {
  return csvRows([cells]);
}

/** Writes lines of CSV. A row with a single empty cell becomes `""`, since a blank line is no row. */
export function csvRows(rows: readonly (readonly Cell[])[]): string {
  return stringified(rows, false);
}

/**
 * Writes lines of CSV for a spreadsheet: a quote precedes any text that would run as a formula. Tokens must not change.
 * @throws SvcError `refused_input` when a token would have to be changed
 */
export function excelSafeRows(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const tokens = names.flatMap((name, at) => (TOKEN_COLUMN.test(name) ? [at] : []));
  for (const row of rows) {
    for (const at of tokens) {
      const cell = row[at] ?? '';
      if (SAFE_START.test(String(cell)) || stringified([[cell]], true) === stringified([[cell]], false)) continue;
      throw new SvcError(
        'refused_input',
        `a token in column ${names[at]} begins like a formula, and would be changed for spreadsheets`,
        { hint: 'Write it unchanged, or choose other columns.', facts: { column: names[at] } },
      );
    }
  }
  return stringified(rows, true);
}

const TOKEN_COLUMN = /(?:^|[._])token(?:_intent)?(?:_id)?$/;
const SAFE_START = /^(?:\w|$)/;

function stringified(rows: readonly (readonly Cell[])[], escapeFormulas: boolean): string {
  return stringify([...rows], {
    record_delimiter: '\n',
    // A quote in front keeps GitHub's runner from taking a line for a command.
    quoted_match: /^\s|\s$|\r|^::|^##\[/,
    quoted_empty: rows[0]?.length === 1,
    escape_formulas: escapeFormulas,
  });
}
