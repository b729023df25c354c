// Classifies the digits of a cell, to keep card numbers out of every file.

import { inspectCell } from '../../base/security/card-number.ts';
import { isUuid } from './row-key.ts';

/** What the digits of a cell are. */
export type Content = ReturnType<typeof inspectCell>;

const MIN_CARD_DIGITS = 13;
/**
 * A timestamp, which exports contain in large numbers. Without this pattern, its digits would be searched for card
 * numbers.
 */
const TIMESTAMP =
  /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z| ?[+-]\d\d(?::?\d\d)?)?$/;

/** Classifies a cell. Writing and reading kept cells share this rule, so that svc never refuses a file that it wrote. */
export function contentOf(cell: string): Content {
  if (cell.length < MIN_CARD_DIGITS || isUuid(cell) || TIMESTAMP.test(cell)) return 'no_card_number';
  return inspectCell(cell);
}
