import type { Ledger } from './ledger.ts';

/** The longest name of a cycle before its counter. */
const LONGEST_BASE = 36;

/**
 * Returns the next unused name for rows that are sent again: `2026-12`, `2026-12.2`, `2026-12.3`. Rows of a file without a
 * cycle get the name of the file.
 */
export async function nextCycle(
  ledger: Pick<Ledger, 'cycle'>,
  { cycle, file }: { readonly cycle: string | undefined; readonly file: string },
): Promise<string> {
  const isUsed = async (name: string): Promise<boolean> => (await ledger.cycle(name).read()).length > 0;
  const current = cycle ?? nameOfFile(file);
  if (cycle === undefined && !(await isUsed(current))) return current;
  const [, before = '', counted = ''] = /^(.+)\.(\d+)$/.exec(current) ?? [];
  // The end of a name such as 2026.12 is no counter.
  const isCounted = before !== '' && (await isUsed(before));
  const base = (isCounted ? before : current).slice(0, LONGEST_BASE).replace(/^[._-]+|[._-]+$/g, '');
  for (let count = isCounted ? Number(counted) + 1 : 2; ; count += 1) {
    const name = `${base}.${count}`;
    if (!(await isUsed(name))) return name;
  }
}

function nameOfFile(file: string): string {
  const words = file
    .replace(/\.csv$/i, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return `${(words ?? ['rows'])
    .join('-')
    .slice(0, LONGEST_BASE - 4)
    .replace(/-$/, '')}-fix`;
}
