// Reads the column names of an export, for completion.

import { readStartSync } from '../../base/files/read.ts';
import { splitCells } from '../csv-rows.ts';
import { findHeader, isDataRow, MAX_HEAD_LINES } from './find-header.ts';
import { isShown } from './prepare-columns.ts';

const MAX_BYTES = 65_536;

/** Returns the column names of an export for completion; an empty list if the file has no header or cannot be read. */
export function headerNames(file: string): string[] {
  try {
    const start = readStartSync(file, MAX_BYTES).toString('utf8');
    const lines = start.replace(/^\uFEFF/, '').split('\n', MAX_HEAD_LINES);
    const { text, delimiter } = findHeader(lines, file);
    const split = splitCells(text, { delimiter, isLenient: true });
    if (split.fault !== undefined || split.cells.length < 2 || isDataRow(split.cells)) return [];
    return split.cells.map((cell) => cell.trim()).filter(isShown);
  } catch {
    // Completion prints no errors: the command itself says what is wrong.
    return [];
  }
}
