import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenOf } from './cycle-results.ts';
import { CYCLE } from './cycles.ts';
import type { Ended } from './process.ts';
import type { World } from './world.ts';

interface Row {
  readonly rows: number;
  readonly next_rows: number | null;
  readonly excluded: number | null;
}

/**
 * Throws if a refresh counts other rows than its request has, or if a row is neither in the next request nor left out. Rows
 * without an update are in no result.
 */
export function checkRefreshRow({ sharedFolder }: World, argv: readonly string[], { stdout }: Ended): void {
  if (stdout === '') return;
  const { rows, next_rows: next, excluded } = JSON.parse(stdout) as Row;
  const directory = join(sharedFolder, CYCLE);
  const keys = new Set(rowsOf(join(directory, 'request.csv')).map(keyOf));
  const but = `'svc ${argv.join(' ')}' ended with 0, but`;
  if (rows !== keys.size) throw new Error(`${but} counts ${rows} rows instead of ${keys.size}`);
  if (next !== null && next + (excluded ?? 0) !== rows)
    throw new Error(`${but} of ${rows} rows, ${next} are in the next request and ${excluded} are left out`);
}

function rowsOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean);
}

/** Returns what tells a row of a request from the others: its token and its merchant. */
function keyOf(row: string): string {
  return `${tokenOf(row)} ${row.split(',')[3] ?? ''}`;
}
