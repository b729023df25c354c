import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { succeeded, svcHere } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export const HEADER = 'token,expiration_year,expiration_month,merchant_id';

const NOW = '2026-11-28T12:00:00Z';

export const COUNT = 40;

export function uuid(at: number): string {
  return `0b7e2f5a-6f0d-4c57-9d0a-${String(at).padStart(12, '0')}`;
}

/** The expirations of the rows: each month of the years 2027 and 2028, beginning with 06/27. */
function dateOf(at: number): { readonly year: string; readonly month: string } {
  return { year: String(27 + (Math.trunc(at / 12) % 2)), month: String(((at + 5) % 12) + 1).padStart(2, '0') };
}

export type Row = { readonly at: number; readonly token: string; readonly yy: string; readonly mm: string };

/** Writes an export of rows, each made of a token, an expiration and a merchant. */
export function place(cells: (row: Row) => readonly string[], header = 'token,expiration,merchant_id', count = COUNT) {
  const lines = Array.from({ length: count }, (_, at) => {
    const { year, month } = dateOf(at);
    return cells({ at, token: uuid(at), yy: year, mm: month }).join(',');
  });
  return placeText(`${[header, ...lines].join('\n')}\n`);
}

export function placeText(text: string) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), text);
  const run = (...argv: string[]) =>
    svcHere(argv, { cwd, home: cwd, clock: new FakeClock({ start: Date.parse(NOW) }) });
  return {
    path: join(cwd, 'export.csv'),
    run,
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
    prepare: (...options: string[]) => run('au', 'prepare', 'export.csv', ...options),
  };
}

export type Placed = ReturnType<typeof place>;

export async function rowsOf({ prepare }: Placed, ...options: string[]): Promise<string[]> {
  const { stdout } = succeeded(await prepare(...options));
  return stdout.trimEnd().split('\n').slice(1);
}

/** The rows that are right, with the merchant of each row. */
export function right(merchant: (at: number) => string, count = COUNT): string[] {
  return Array.from({ length: count }, (_, at) => {
    const { year, month } = dateOf(at);
    return `${uuid(at)},${year},${month},${merchant(at)}`;
  });
}

export const merchantOf = (at: number): string => ['M-1', 'M-2'][at % 2] ?? '';
