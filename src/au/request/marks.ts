// Recognizes cells that stand for a missing value, and numbers that a spreadsheet changed.

/** The kind of a mark for a missing value: certainly nothing, or a word that may also be a name. */
export type Mark = 'nothing' | 'word';

const MAX_MARK_LENGTH = 16;
/** The marks of databases and statistics programs for a missing value, errors of spreadsheets and Miller, and a line of dashes. */
const NOTHING =
  /^(?:\\N|\((?:null|error)\)|\[null\]|<null>|<na>|#n\/a|#(?:ref|value|null|num|spill|calc)!|#div\/0!|#name\?|err:\d{3}|[-–—]{2,}|[–—])$/i;
const WORD = /^(?:null|nil|na|n\/a|nan|none|undefined|-)$/i;

/** Recognizes a mark of a missing value, such as NULL; undefined for any other text. */
export function markOf(cell: string): Mark | undefined {
  if (cell === '' || cell.length > MAX_MARK_LENGTH) return undefined;
  if (NOTHING.test(cell)) return 'nothing';
  return WORD.test(cell) ? 'word' : undefined;
}

/** A number with an exponent, or with a zero behind its point, as programs write a number that should have been text. */
const CHANGED_NUMBER = /^[-+]?(?:\d+(?:[.,]\d+)?e[-+]\d+|\d[.,]\d+e\d+|\d+[.,]0+|inf(?:inity)?)$/i;

/** The apostrophe by which a spreadsheet marks a number as text, before a text that is no name. */
const MARKED_TEXT = /^'[^'\s]+$/;

/** Tells whether a cell has the apostrophe of a spreadsheet before it. */
export function isMarkedText(cell: string): boolean {
  return MARKED_TEXT.test(cell);
}

/** Tells whether a cell is a number as spreadsheets and statistics programs write it, whose last digits may be lost. */
export function isChangedNumber(cell: string): boolean {
  return CHANGED_NUMBER.test(cell);
}
