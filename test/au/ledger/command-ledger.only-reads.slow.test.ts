import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from './shared-ledger.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/**
 * A laptop that sent five rows with its own ledger, and a runner that sent the others with a shared one. Returns the laptop,
 * the job of each, and the environment in which the laptop has the shared ledger set.
 */
async function openLaptop(): Promise<{ machine: Machine; jobs: string[]; shared: Record<string, string> }> {
  const machine = await openMachine();
  const submit = async (name: string, rows: readonly string[], env: Record<string, string>): Promise<string> => {
    writeFileSync(machine.path(`work/${name}.csv`), `${[HEADER, ...rows].join('\n')}\n`);
    const sent = succeeded(await machine.svc(`au submit ${name}.csv --cycle 2026-12 --new-ledger`, env));
    return (JSON.parse(sent.stdout) as { readonly job: string }).job;
  };
  const shared = sharedLedger(machine.path('shared'));
  const theirs = await submit('theirs', ROWS.slice(5), { ...shared, SVC_STATE_DIR: machine.path('runner') });
  const jobs = [await submit('ours', ROWS.slice(0, 5), {}), theirs];
  return { machine, jobs, shared };
}

/** The files below a directory with their content, without the copies of what was read. */
function filesIn(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {};
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.includes('/seen/'));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

const READING = [
  { line: 'au status', says: '2026-12' },
  { line: 'au status 2026-12', says: 'completed' },
  { line: 'au resume 2026-12 --dry-run', says: 'dry run: it would' },
  { line: 'au refresh', says: 'other machines have jobs in cycle 2026-12' },
  { line: 'au abandon {theirs}', says: 'it is completed' },
  { line: 'au ignore {foreign}', says: 'Ignore job' },
];

it('the commands that only read take a shared ledger and do not bind this machine to it', async () => {
  const { machine, jobs, shared } = await openLaptop();
  const foreign = String(rowOf(await machine.svc('au create --yes'))['id']);
  const before = [filesIn(machine.path('state')), filesIn(machine.path('shared'))];
  for (const { line, says } of READING) {
    const read = await machine.svc(line.replace('{theirs}', jobs[1] ?? '').replace('{foreign}', foreign), shared);
    expect(read.stdout + read.stderr, line).toContain(says);
    expect([filesIn(machine.path('state')), filesIn(machine.path('shared'))], line).toEqual(before);
  }
  succeeded(await machine.svc('au submit ours.csv --cycle 2026-12'));
});

it('svc au status shows the jobs of this machine that a shared ledger does not have yet, and copies only what the ledger has', async () => {
  const { machine, jobs, shared } = await openLaptop();
  const shown = await machine.svc('au status', shared);
  const { open_jobs: open } = JSON.parse(shown.stdout) as { readonly open_jobs: string[] };
  expect(open.toSorted()).toEqual(jobs.toSorted());
  const seen = readdirSync(machine.path('state/ledger'), { recursive: true }).map(String);
  expect(seen.filter((path) => /\/seen\/.*\/\d{8}\.json$/.test(path)).map((path) => path.slice(-13))).toEqual([
    '00000001.json',
  ]);
  succeeded(await machine.svc('au resume', shared));
  ended(await machine.svc('au submit ours.csv --cycle 2026-12'), 3);
});
