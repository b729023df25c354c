/** The checks of a whole file that `--accept` answers. The glossary has what each means. */
export const CHECKS = [
  'tokens',
  'numbers',
  'marks',
  'days',
  'past',
  'years',
  'quotes',
  'repeats',
  'merchants',
] as const;

export type Check = (typeof CHECKS)[number];

/** What a check found in a file: rows that contradict the others, or cannot be meant. */
export interface Doubt {
  readonly check: Check;
  /** What was found, to follow the name of the file. */
  readonly problem: string;
}
