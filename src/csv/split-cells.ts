/** The cells of one line, or what is wrong with its quotes. */
export type SplitCells =
  | { readonly cells: readonly string[]; readonly fault?: undefined }
  | { readonly fault: 'open' | 'stray' };

/**
 * Splits one line into cells (RFC 4180): quoted cells may hold commas, and quotes written twice. `open`: a quoted
 * cell does not end on this line. `stray`: a quote stands within an unquoted cell, or text behind a closing quote.
 */
export function splitCells(line: string): SplitCells {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; at += 1) {
    if (line[at] !== '"') {
      const comma = line.indexOf(',', at);
      const end = comma === -1 ? line.length : comma;
      const cell = line.slice(at, end);
      if (cell.includes('"')) return { fault: 'stray' };
      cells.push(cell);
      at = end;
      continue;
    }
    const end = closingQuote(line, at + 1);
    if (end === -1) return { fault: 'open' };
    if (end + 1 < line.length && line[end + 1] !== ',') return { fault: 'stray' };
    cells.push(line.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 1;
  }
  return { cells };
}

function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 2))
    if (line[at + 1] !== '"') return at;
  return -1;
}
