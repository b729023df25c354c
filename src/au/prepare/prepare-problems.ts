// Groups the problems in the rows of an export, for messages.

import type { Finding, Problem } from '../request/request-file.ts';
import type { DateOrder } from './date-orders.ts';

/** A problem in one row of an export. */
export interface RowFinding extends Finding {
  /** The shape of the faulty cell, never its characters (see `shapeOf`). */
  readonly shape?: string | undefined;
  /** The orders that distinguish the readings of an ambiguous date. */
  readonly orders?: readonly DateOrder[] | undefined;
}

/** Rows with the same problem in cells of the same shape. `line` is the first of these rows. */
export interface ProblemGroup extends RowFinding, Problem {
  readonly count: number;
  /** The lines of the first rows. */
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

  /** Returns the groups in descending order of their number of rows. */
  largestFirst(): ProblemGroup[] {
    const groups = [...this.#groups.values()].toSorted((a, b) => b.count - a.count);
    return groups.map(({ finding, lines, count }) => Object.assign({ line: lines[0] ?? 0 }, finding, { count, lines }));
  }
}
