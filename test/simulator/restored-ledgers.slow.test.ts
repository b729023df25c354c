import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMachine } from '../au/commands/machine.ts';
import { HEADER } from '../au/rows.ts';
import { uploadsTaken } from '../au/support.ts';
import { Chance } from '../support/chance.ts';
import { historiesOr } from './live-through.ts';

// Machines begin to share a ledger at any time, and it is restored to the time before a submission. HISTORIES sets the number
// of histories, and SEED runs one.

const HOSTS = ['laptop', 'runner', 'backup'];
const CYCLE = '2026-12';
const { SEED } = process.env;
const HISTORIES = historiesOr(2);

/** Rows that any host may send with the shared ledger. Rows that a host sends without it are its own. */
const SHARED_ROWS = Array.from({ length: 6 }, (_, row) => `shared-${row}`);

async function live(seed: number): Promise<void> {
  const chance = new Chance(seed);
  const machine = await openMachine();
  const [shared, older] = [machine.path('shared'), machine.path('older')];
  mkdirSync(shared);
  const alone = new Set(HOSTS.filter(() => chance.happens(0.6)));
  const story: string[] = [];
  const run = async (host: string, line: string): Promise<number | null> => {
    const place = alone.has(host) ? {} : { SVC_LEDGER: shared };
    const { code, stderr } = await machine.svc(line, { SVC_STATE_DIR: machine.path(host), ...place });
    story.push(`${host}${alone.has(host) ? ' alone' : ''}: svc ${line}: ${code} ${stderr}`);
    return code;
  };
  const submit = async (host: string, rows: readonly string[]): Promise<number | null> => {
    writeFileSync(machine.path('work/rows.csv'), [HEADER, ...rows.map((row) => `${row},,,`), ''].join('\n'));
    return run(host, `au submit rows.csv --cycle ${CYCLE} --new-ledger`);
  };
  const drawn = (of: readonly string[]): string[] => of.filter(() => chance.happens(0.5));
  const check = (code: number | null): void => {
    const sent = rowsSent(machine.path('tenant-1'));
    expect(sent, story.join('\n')).toEqual([...new Set(sent)]);
    // A job that the ledger does not know stops a command. Two histories would stop it for ever.
    expect([0, 9], story.join('\n')).toContain(code);
  };
  // A ledger of which nothing is left is another matter: svc then says that it is not there.
  alone.delete('laptop');
  check(await submit('laptop', ['first']));
  for (let step = chance.between(6, 14); step > 0; step -= 1) {
    const host = chance.oneOf(HOSTS);
    if (alone.has(host) && chance.happens(0.4)) alone.delete(host);
    rmSync(older, { recursive: true, force: true });
    cpSync(shared, older, { recursive: true });
    const restore = (): void => {
      rmSync(shared, { recursive: true });
      cpSync(older, shared, { recursive: true });
      story.push('the shared ledger is restored to the time before this');
    };
    if (chance.happens(0.4)) {
      const code = await run(host, `au resume ${CYCLE} --out results.csv --force`);
      // A cycle that nobody began is not found.
      check(code === 5 ? 0 : code);
      if (!alone.has(host) && chance.happens(0.5)) restore();
      continue;
    }
    const rows = alone.has(host) ? drawn([0, 1, 2].map((row) => `${host}-${row}`)) : drawn(SHARED_ROWS);
    const before = rowsSent(machine.path('tenant-1')).length;
    check(await submit(host, rows.length > 0 ? rows : [alone.has(host) ? `${host}-0` : 'shared-0']));
    const wasSent = rowsSent(machine.path('tenant-1')).length > before;
    if (!wasSent || alone.has(host) || !chance.happens(0.5)) continue;
    restore();
  }
  alone.clear();
  // Each machine puts back or copies what only it has, as the refusals say.
  for (let round = 0; round < 3; round += 1)
    for (const host of HOSTS) await run(host, `au resume ${CYCLE} --out results.csv --force`);
  for (const host of HOSTS) {
    const code = await submit(host, SHARED_ROWS);
    check(code);
    expect(code, story.join('\n')).toBe(0);
  }
  expect(rowsSent(machine.path('tenant-1')), story.join('\n')).toEqual(expect.arrayContaining(SHARED_ROWS));
}

/** The tokens of all rows that the service got. */
function rowsSent(place: string): string[] {
  return uploadsTaken(place).flatMap((job) =>
    readFileSync(join(place, 'files', `request-${job}.csv`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0] ?? ''),
  );
}

describe('machines begin to share a ledger, which is restored to an older time', () => {
  const seeds = SEED === undefined ? Array.from({ length: HISTORIES }, (_, at) => at + 1) : [Number(SEED)];
  it.each(seeds)(
    'R58 and R74: no row is paid for twice, and every machine goes on, in the history of seed %i',
    async (seed) => {
      await expect(live(seed)).resolves.toBeUndefined();
    },
  );
});
