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
 * Renders CSV as in RFC 4180, but with LF: a header, then rows. A nested value is written as JSON, an absent value is empty.
 * A single object has a column for every value, known or unknown.
 * Cells that begin like a formula are changed only with `excelSafe`, since the prefix is wrong data for other programs.
 */
export function csvRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width, excelSafe = false, runnerReads = false, redact = same } = options;
  const paths = chooseFields(view, options.fields) ?? view.fields.filter((field) => !/(?:^|\.)\*$/.test(field));
  const project = projection(view, undefined, options.showUrls ?? false);
  // On a terminal, which has a width, cells are made safe. Elsewhere cells keep the bytes that the service sent.
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
    const all = batch.map((row) => {
      const shown = project(row);
      return redactors.map(({ path, redactCell }) => {
        const value = valueAt(shown, path);
        const text = redactCell(safe(plainText(value)));
        return excelSafe && text === String(value) && typeof value === 'number' ? value : text;
      });
    });
    return excelSafe ? excelSafeRows(columns, all) : csvRows(all);
  };
  const leftOut = new LeftOutPaths(paths);
  // An operator who chose fields knows that others are left out.
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

/** The largest number of paths to collect. A service that uses data as member names could send any number of paths. */
const MAX_LEFT_OUT = 100;

/** Collects the paths of values without a column. A list needs this, since its header is written before its rows are read. */
class LeftOutPaths {
  readonly paths: string[] = [];
  readonly #known: readonly string[];
  readonly #seen: Set<string>;

  constructor(known: readonly string[]) {
    this.#known = known;
    this.#seen = new Set(known);
  }

  note(value: unknown): void {
    if (this.paths.length >= MAX_LEFT_OUT) return;
    const fresh = leafPaths(value).filter((path) => !this.#seen.has(path));
    for (const path of fresh) this.#seen.add(path);
    this.paths.push(...newPaths(fresh, this.#known));
  }
}

/** Returns the paths that no known field covers. */
function newPaths(paths: readonly string[], known: readonly string[]): string[] {
  return paths.filter((path) => !known.some((field) => covers(field, path) || covers(path, field)));
}

function covers(path: string, other: string): boolean {
  return path === other || other.startsWith(`${path}.`);
}

function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonLine(value);
}

/** The value of a cell. A spreadsheet never reads a number as a formula. */
type Cell = string | number;

/** How a file separates its cells and rows: by commas and line feeds by default. */
export interface Separators {
  readonly delimiter?: string;
  readonly lineEnd?: string;
}

/** Formats one line of CSV, with its line end. */
export function csvRow(cells: readonly string[], separators?: Separators): string {
  return csvRows([cells], separators);
}

/** Formats lines of CSV. A row with a single empty cell becomes `""`, because readers skip a blank line. */
export function csvRows(rows: readonly (readonly Cell[])[], separators?: Separators): string {
  return stringifyRows(rows, false, separators);
}

/**
 * Formats lines of CSV for a spreadsheet: a quote precedes text that would run as a formula.
 * @throws SvcError `refused_input` for a token that begins like a formula, since a changed token is useless
 */
export function excelSafeRows(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const tokens = names.flatMap((name, at) => (TOKEN_COLUMN.test(name) ? [at] : []));
  for (const row of rows) {
    for (const at of tokens) {
      const cell = row[at] ?? '';
      if (SAFE_START.test(String(cell)) || stringifyRows([[cell]], true) === stringifyRows([[cell]], false)) continue;
      throw new SvcError(
        'refused_input',
        `a token in column ${names[at]} begins like a formula, and would be changed for spreadsheets`,
        { hint: 'Write it unchanged, or choose other columns.', facts: { column: names[at] } },
      );
    }
  }
  return stringifyRows(rows, true);
}

/** Returns a function that formats a row of CSV with these columns, for a spreadsheet if `excelSafe`. */
export function csvRowFormat(names: readonly string[], excelSafe: boolean): (cells: readonly string[]) => string {
  return (cells) => (excelSafe ? excelSafeRows(names, [cells]) : csvRow(cells));
}

const TOKEN_COLUMN = /(?:^|[._])token(?:_intent)?(?:_id)?$/;
const SAFE_START = /^(?:\w|$)/;

function stringifyRows(
  rows: readonly (readonly Cell[])[],
  escapeFormulas: boolean,
  { delimiter = ',', lineEnd = '\n' }: Separators = {},
): string {
  return stringify([...rows], {
    delimiter,
    record_delimiter: lineEnd,
    // A quote in front keeps GitHub's runner from taking a line for a command.
    quoted_match: /^\s|\s$|\r|^::|^##\[/,
    quoted_empty: rows[0]?.length === 1,
    escape_formulas: escapeFormulas,
  });
}
