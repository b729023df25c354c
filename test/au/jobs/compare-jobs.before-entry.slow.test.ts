import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Machine, openMachine } from '../commands/machine.ts';
import { HEADER } from '../rows.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';

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
  ended(await on('laptop', 'au submit tokens.csv --cycle 2026-12'), fault === undefined ? 0 : 4);
  machine.fault = undefined;
  cpSync(shared, machine.path('older'), { recursive: true });
  succeeded(await on('laptop', 'au submit more.csv --cycle 2026-12'));
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
    const { on, job, entries } = await openRestored();
    const before = entries();
    for (const seen of earlier) expect(await on('runner', seen)).toMatchObject({ code: 0 });
    const words = line.replace('JOB', job);
    const stopped = await on('runner', words);
    expect([stopped.code, entries()], stopped.stderr).toEqual([9, before]);
    // The machine that has the lost claim puts it back, and everything goes on.
    succeeded(await on('laptop', 'au resume 2026-12 --wait --out laptop.csv'));
    ended(await on('runner', words), 0, { uploads: 2 });
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
  const { on } = sharing(machine);
  succeeded(await on('laptop', 'au submit tokens.csv --cycle 2026-12'));
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/account-updater/jobs?') === true) outgoing.writeHead(403).end();
    else proceed();
  };
  ended(
    await on('runner', 'au resume 2026-12 --out results.csv'),
    0,
    'were not compared with the ledger, because this key may not list them',
  );
});

/** Writes a file of one row, which no other file has. */
function writeRow(machine: Machine, name: string): void {
  writeFileSync(machine.path(`work/${name}.csv`), `${HEADER}\nrow-of-${name},,,\n`);
}

it.each(LINES)('R58: svc %s adds nothing to a ledger that was restored to an older time', async (line) => {
  const { machine, on, job, entries } = await openRestored();
  writeRow(machine, 'own');
  // Its own ledger has a claim of the same cycle, which would take the number of the lost one.
  succeeded(
    await machine.svc('au submit own.csv --cycle 2026-12 --new-ledger', { SVC_STATE_DIR: machine.path('runner') }),
  );
  const before = entries();
  const words = line.replace('JOB', job);
  const stopped = await on('runner', words);
  expect([stopped.code, entries()], stopped.stderr).toEqual([9, before]);
  // The machine that has the lost claim puts it back, and then only lacks the job of the runner.
  ended(await on('laptop', 'au resume'), 9);
  ended(await on('runner', words), 0, { uploads: 3 });
  succeeded(await on('laptop', 'au resume 2026-12 --wait --out laptop.csv --force'));
});

it('R58: two machines that begin to share both enter their claims, although neither knows the job of the other', async () => {
  const machine = await openMachine();
  const { on } = sharing(machine);
  succeeded(await on('laptop', 'au submit tokens.csv --cycle 2026-12'));
  for (const host of ['one', 'two']) {
    writeRow(machine, host);
    const line = `au submit ${host}.csv --cycle 2026-12 --new-ledger`;
    succeeded(await machine.svc(line, { SVC_STATE_DIR: machine.path(host) }));
  }
  ended(await on('one', 'au resume'), 9);
  const other = await on('two', 'au resume');
  expect(other.stderr).not.toContain('two histories');
  ended(await on('one', 'au resume --wait'), 0, { uploads: 3 });
});

it.each(['au resume 2026-12 --wait --out r.csv', 'au download JOB --out r.csv'])(
  'svc %s stops before the first entry of a ledger for an unknown job, and goes on as its error says',
  async (line) => {
    const machine = await openMachine();
    const { on } = sharing(machine);
    const jobs: string[] = [];
    for (const host of ['two', 'one']) {
      writeRow(machine, host);
      const submit = `au submit ${host}.csv --cycle 2026-12 --new-ledger`;
      jobs.push(String(rowOf(await machine.svc(submit, { SVC_STATE_DIR: machine.path(host) }))['job']));
    }
    const [unknown = '', own = ''] = jobs;
    const words = line.replace('JOB', own);
    ended(await on('one', words), 9, {
      error: {
        alternatives: ['svc au jobs', `svc au ignore ${unknown}`],
        hint: expect.stringContaining('ignore them'),
      },
    });
    // Tables show the beginning of an id.
    succeeded(await on('one', `au ignore ${unknown.replace(/^([0-9a-f]{8})-.*$/, '$1')} --yes`));
    succeeded(await on('one', words));
  },
);

it('R58: svc au resume puts a lost claim back whose results were delivered, as the refusal of another machine says', async () => {
  const { on, entries, machine } = await openRestored();
  succeeded(await on('laptop', 'au resume 2026-12 --wait --out laptop.csv'));
  const whole = entries();
  rmSync(machine.path('shared'), { recursive: true });
  cpSync(machine.path('older'), machine.path('shared'), { recursive: true });
  ended(await on('runner', 'au resume 2026-12 --wait --out results.csv'), 9);
  const cured = await on('laptop', 'au resume');
  expect([cured.code, entries()], cured.stderr).toEqual([0, whole]);
});

it('R83: a command in another cycle puts back the emptied mark of an older job, or says that it is damaged', async () => {
  const machine = await openMachine();
  const { shared, on } = sharing(machine);
  succeeded(await on('laptop', 'au submit tokens.csv --cycle 2026-11 --wait'));
  const marks = readdirSync(shared, { recursive: true, encoding: 'utf8' }).filter((name) => /\/jobs\/./.test(name));
  expect(marks).toHaveLength(1);
  writeFileSync(join(shared, marks[0] ?? ''), '');
  const codes = new Map<string, number | null>();
  for (const host of ['runner', 'laptop']) {
    writeRow(machine, host);
    codes.set(host, (await on(host, `au submit ${host}.csv --cycle 2026-12`)).code);
  }
  expect(Object.fromEntries(codes)).toEqual({ runner: 3, laptop: 3 });
});

it('R83: a machine goes on in a cycle that lost what it read of results and went on on another machine', async () => {
  const machine = await openMachine();
  const { shared, older, on } = sharing(machine);
  const resume = 'au resume 2026-12 --wait --out results.csv --force';
  succeeded(await on('laptop', 'au submit tokens.csv --cycle 2026-12'));
  cpSync(shared, older, { recursive: true });
  succeeded(await on('laptop', resume));
  // No job of the service shows that only the entries about results are lost.
  rmSync(shared, { recursive: true });
  cpSync(older, shared, { recursive: true });
  await machine.clock.advance(60_000);
  succeeded(await on('runner', resume));
  writeRow(machine, 'more');
  succeeded(await on('runner', 'au submit more.csv --cycle 2026-12'));
  writeRow(machine, 'next');
  ended(await on('laptop', 'au submit next.csv --cycle 2026-12'), 0, { uploads: 3 });
  for (const host of ['laptop', 'runner']) expect(await on(host, resume)).toMatchObject({ code: 0 });
});

it('R83: a machine with other claims of a cycle stops in that cycle, and sends rows in the next one, as its error says', async () => {
  const machine = await openMachine();
  const { shared, older, on } = sharing(machine);
  succeeded(await on('laptop', 'au submit tokens.csv --cycle 2026-12'));
  cpSync(shared, older, { recursive: true });
  writeRow(machine, 'lost');
  const { stdout } = await on('laptop', 'au submit lost.csv --cycle 2026-12 -o json');
  const [lost] = (JSON.parse(stdout) as { jobs: string[] }).jobs;
  rmSync(shared, { recursive: true });
  cpSync(older, shared, { recursive: true });
  // The operator of the runner is wrong.
  succeeded(await on('runner', `au ignore ${lost} --yes`));
  writeRow(machine, 'more');
  succeeded(await on('runner', 'au submit more.csv --cycle 2026-12'));
  writeRow(machine, 'next');
  const stopped = await on('laptop', 'au submit next.csv --cycle 2026-12');
  expect([stopped.code, stopped.stderr.includes('two histories')], stopped.stderr).toEqual([3, true]);
  succeeded(await on('laptop', 'au submit next.csv --cycle 2026-12.2'));
});

/** Returns the place of a ledger that machines share, that of an older copy of it, and a function that runs a command on one. */
function sharing(machine: Machine) {
  const [shared, older] = [machine.path('shared'), machine.path('older')];
  mkdirSync(shared);
  const on = (host: string, words: string) =>
    machine.svc(words, { SVC_LEDGER: shared, SVC_STATE_DIR: machine.path(host) });
  return { shared, older, on };
}
