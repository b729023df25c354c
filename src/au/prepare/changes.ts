// Counts the changes that preparing makes to the rows of an export.

import { CountedLines } from '../request/request-file.ts';

/** The kinds of changes to rows, in the order of the output. Scripts rely on these names. */
const CHANGES = [
  'line_ends',
  'spaces',
  'marks',
  'wrapped_tokens',
  'quoted_merchants',
  'expirations',
  'years',
  'months',
  'blank_lines',
  'repeated_headers',
  'total_rows',
  'converted_rows',
  'repeated_tokens',
  'later_dates',
  'excluded_tokens',
] as const;

export type ChangeKind = (typeof CHANGES)[number];

/** The number of lines, and the first of them. */
export type Lines = Readonly<Pick<CountedLines, 'count' | 'first'>>;

/** The number of rows with one kind of change, and the lines of the first rows. */
export interface Change extends Lines {
  readonly kind: ChangeKind;
}

export class Changes {
  readonly #lines = new Map<ChangeKind, CountedLines>();

  add(kind: ChangeKind, line: number): void {
    const lines = this.#lines.get(kind) ?? new CountedLines();
    this.#lines.set(kind, lines);
    lines.add(line);
  }

  has(kind: ChangeKind): boolean {
    return this.#lines.has(kind);
  }

  found(): Change[] {
    return CHANGES.flatMap((kind) => {
      const { count, first } = this.#lines.get(kind) ?? {};
      return count === undefined || first === undefined ? [] : [{ kind, count, first }];
    });
  }
}
