import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openMachine } from '../commands/machine.ts';

/** Returns the entries below a place, by their names. */
function entriesIn(place: string): string[] {
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\d{8}\.json$/.test(name)).toSorted();
}

it.each(['au resume 2026-12', 'au download'])(
  'R58: %s of a machine that never saw a ledger adds nothing to one that was restored to an older time',
  async (line) => {
    const machine = await openMachine();
    const shared = machine.path('shared');
    mkdirSync(shared);
    const on = (host: string, words: string) =>
      machine.svc(words, { SVC_LEDGER: shared, SVC_STATE_DIR: machine.path(host) });
    const rows = readFileSync(machine.path('work/tokens.csv'), 'utf8').trimEnd().split('\n');
    writeFileSync(machine.path('work/more.csv'), `${[rows[0], 'one-more,,,'].join('\n')}\n`);
    const first = await on('laptop', 'au submit tokens.csv --cycle 2026-12');
    expect(first.code, first.stderr).toBe(0);
    cpSync(shared, machine.path('older'), { recursive: true });
    const second = await on('laptop', 'au submit more.csv --cycle 2026-12');
    expect(second.code, second.stderr).toBe(0);
    rmSync(shared, { recursive: true });
    cpSync(machine.path('older'), shared, { recursive: true });
    const before = entriesIn(shared);
    const [job] = (JSON.parse(first.stdout) as { jobs: string[] }).jobs;
    const words = line === 'au download' ? `${line} ${job} --out results.csv` : `${line} --out results.csv`;
    const stopped = await on('runner', words);
    expect([stopped.code, entriesIn(shared)], stopped.stderr).toEqual([9, before]);
    // The machine that has the lost claim puts it back, and everything goes on.
    const cured = await on('laptop', 'au resume 2026-12 --wait --out laptop.csv');
    expect(cured.code, cured.stderr).toBe(0);
    const again = await on('runner', words);
    expect([again.code, machine.uploads()], again.stderr).toEqual([0, 2]);
  },
);
