/** The checks of a whole export that `--accept` answers, by their names in messages. */
export const CHECKS = ['quotes', 'repeats'] as const;

export type Check = (typeof CHECKS)[number];
