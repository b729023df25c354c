import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Machine, openMachine } from '../commands/machine.ts';

/** Returns the entries below a place, by their names. */
function entriesIn(place: string): string[] {
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\d{8}\.json$/.test(name)).toSorted();
}

/** A ledger that machines share and that was restored to before its newest claim, which a laptop still has. */
async function openRestored(fault?: Machine['fault']) {
  const machine = await openMachine();
  machine.fault = fault;
  const shared = machine.path('shared');
  mkdirSync(shared);
  const on = (host: string, words: string) =>
    machine.svc(words, { SVC_LEDGER: shared, SVC_STATE_DIR: machine.path(host) });
  const rows = readFileSync(machine.path('work/tokens.csv'), 'utf8').trimEnd().split('\n');
  writeFileSync(machine.path('work/more.csv'), `${[rows[0], 'one-more,,,'].join('\n')}\n`);
  const first = await on('laptop', 'au submit tokens.csv --cycle 2026-12');
  expect(first.code, first.stderr).toBe(fault === undefined ? 0 : 4);
  machine.fault = undefined;
  cpSync(shared, machine.path('older'), { recursive: true });
  const second = await on('laptop', 'au submit more.csv --cycle 2026-12');
  expect(second.code, second.stderr).toBe(0);
  rmSync(shared, { recursive: true });
  cpSync(machine.path('older'), shared, { recursive: true });
  const [job = ''] = readdirSync(machine.path('laptop/jobs'));
  return { machine, on, job, entries: () => entriesIn(shared) };
}

/** The commands that enter what became of a job. */
const LINES = [
  'au resume 2026-12 --out results.csv',
  'au resume --wait',
  'au download JOB --out results.csv',
  'au submit tokens.csv --cycle 2026-12 --wait --out results.csv',
];

describe.each([
  ['never saw the ledger', []],
  ['saw it as it is now', ['au submit tokens.csv --cycle 2026-12']],
])('a machine that %s', (_, earlier) => {
  it.each(LINES)('R58: svc %s adds nothing to a ledger that was restored to an older time', async (line) => {
    const { machine, on, job, entries } = await openRestored();
    const before = entries();
    for (const seen of earlier) expect(await on('runner', seen)).toMatchObject({ code: 0 });
    const words = line.replace('JOB', job);
    const stopped = await on('runner', words);
    expect([stopped.code, entries()], stopped.stderr).toEqual([9, before]);
    // The machine that has the lost claim puts it back, and everything goes on.
    const cured = await on('laptop', 'au resume 2026-12 --wait --out laptop.csv');
    expect(cured.code, cured.stderr).toBe(0);
    const again = await on('runner', words);
    expect([again.code, machine.uploads()], again.stderr).toEqual([0, 2]);
  });
});

it('R58: svc au abandon adds nothing to a ledger that was restored to an older time', async () => {
  const { on, job, entries } = await openRestored((incoming, outgoing, proceed) => {
    if (incoming.method === 'PUT') outgoing.writeHead(403).end();
    else proceed();
  });
  const before = entries();
  const stopped = await on('runner', `au abandon ${job} --yes`);
  expect([stopped.code, entries()], stopped.stderr).toEqual([9, before]);
});

it('R58: a wait that could not read the list of jobs at first adds nothing to a ledger that was restored to an older time', async () => {
  const { machine, on, entries } = await openRestored();
  const before = entries();
  let lists = 0;
  machine.fault = (incoming, outgoing, proceed) => {
    const isList = incoming.url?.startsWith('/account-updater/jobs?') === true;
    if (isList) lists += 1;
    // The first list shows the tenant of the key.
    if (isList && lists > 1 && lists < 9) outgoing.writeHead(503).end();
    else proceed();
  };
  const stopped = await on('runner', 'au resume 2026-12 --wait --out results.csv');
  expect(lists).toBeGreaterThan(8);
  expect([stopped.code, entries()], stopped.stderr).toEqual([9, before]);
});

it('R58: a key that may not list jobs gets the results of a shared ledger, with a warning that nothing was compared', async () => {
  const machine = await openMachine();
  mkdirSync(machine.path('shared'));
  const on = (host: string, words: string) =>
    machine.svc(words, { SVC_LEDGER: machine.path('shared'), SVC_STATE_DIR: machine.path(host) });
  expect(await on('laptop', 'au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/account-updater/jobs?') === true) outgoing.writeHead(403).end();
    else proceed();
  };
  const { code, stderr } = await on('runner', 'au resume 2026-12 --out results.csv');
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('were not compared with the ledger, because this key may not list them');
});
