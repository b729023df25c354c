import type { DateOrder } from './prepare-date.ts';
import type { Finding, Problem } from './request-file.ts';

/** What is wrong with one row of an export. */
export interface RowFinding extends Finding {
  /** The form of the cell at fault, never its characters: see `shapeOf`. */
  readonly shape?: string | undefined;
  /** The orders that decide how an ambiguous date is read. */
  readonly orders?: readonly DateOrder[] | undefined;
}

/** Rows that have the same problem, in cells of the same shape. `line` is the first of them. */
export interface ProblemGroup extends RowFinding, Problem {
  readonly count: number;
  /** The first lines. */
  readonly lines: readonly number[];
}

const GROUPS_KEPT = 20;
const LINES_KEPT = 3;

/** Groups the problems of rows, in bounded memory: the first 20 groups, and the number of all problems. */
export class ProblemGroups {
  readonly #groups = new Map<string, { readonly finding: RowFinding; lines: number[]; count: number }>();
  count = 0;

  add(line: number, finding: RowFinding): void {
    this.count += 1;
    const { rule, column = '', shape = '', problem } = finding;
    const key = [rule, column, shape, problem].join('\n');
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size === GROUPS_KEPT) return;
      group = { finding, lines: [], count: 0 };
      this.#groups.set(key, group);
    }
    group.count += 1;
    if (group.lines.length < LINES_KEPT) group.lines.push(line);
  }

  /** The groups with most rows first. */
  largestFirst(): ProblemGroup[] {
    const groups = [...this.#groups.values()].toSorted((a, b) => b.count - a.count);
    return groups.map(({ finding, lines, count }) => Object.assign({ line: lines[0] ?? 0 }, finding, { count, lines }));
  }
}

const LONGEST_SHAPE = 24;

/** The form of a cell: `Aaa-99` for Mar-29. It shows how a value is written and nothing of the value. */
export function shapeOf(cell: string): string {
  const shape = cell
    .slice(0, LONGEST_SHAPE)
    .replaceAll(/[A-Z]/g, 'A')
    .replaceAll(/[a-z]/g, 'a')
    .replaceAll(/\d/g, '9')
    .replaceAll(/[^ -~]/g, '?');
  return cell.length > LONGEST_SHAPE ? `${shape}…` : shape;
}
