/** The checks of a whole export that `--accept` answers, by their names in messages. */
export const CHECKS = ['repeats'] as const;

export type Check = (typeof CHECKS)[number];
