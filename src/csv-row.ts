/** One line of CSV. A line with a single empty cell is written as `""`, since a blank line is no row. */
export function csvRow(cells: readonly string[]): string {
  if (cells.length === 1 && cells[0] === '') return '""\n';
  return `${cells.map((cell) => quoted(cell)).join(',')}\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
