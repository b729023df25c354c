import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import type { Clock } from '../../../src/base/system.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import type { ObjectStore } from '../../../src/client/store/store.ts';
import { BUCKET } from '../../support/bucket-signature.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { openMachine } from '../commands/machine.ts';
import { openEarlierLedger } from './earlier-ledger.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-12';

type Environment = Readonly<Record<string, string>>;

/** Copies what is in one place to another, and spares what is there, as `cp -n` and `aws s3 sync` do. */
async function copyOver({ env, clock }: Pick<Places, 'env' | 'clock'>, from: string, to: string): Promise<void> {
  const open = (place: string): Promise<ObjectStore> =>
    openStore({ env, cwd: '/', pid: 1, isAlive: () => true, clock, signal: new AbortController().signal }, place, {
      noun: 'ledger',
      writers: 'machines',
    });
  const [source, target] = [await open(from), await open(to)];
  for await (const { path } of source.list('')) {
    const bytes = await source.read(path, 1_000_000);
    if (bytes) await target.create(path, bytes);
  }
}

interface Host {
  readonly clock: Clock;
  readonly path: (name: string) => string;
}

/** Two places for a ledger, and the environment that reaches them. */
interface Places {
  readonly right: string;
  readonly wrong: string;
  readonly env: Environment;
  readonly clock: Clock;
}

function directories({ path, clock }: Host): Places {
  for (const name of ['right', 'wrong']) mkdirSync(path(name));
  return { right: path('right'), wrong: path('wrong'), env: {}, clock };
}

async function prefixes({ clock }: Host): Promise<Places> {
  const bucket = await BucketServer.start();
  bucket.now = () => clock.now();
  return { right: `s3://${BUCKET.name}/right`, wrong: `s3://${BUCKET.name}/wrong`, env: bucket.environment, clock };
}

it.each(['directory', 'bucket'])(
  'R58: a ledger that is copied over a place where a run began one, a %s, still knows all rows',
  async (kind) => {
    const machine = await openMachine();
    const places = kind === 'directory' ? directories(machine) : await prefixes(machine);
    const { right, wrong, env } = places;
    const on = (host: string, ledger: string, line = SUBMIT) =>
      machine.svc(line, { ...env, SVC_LEDGER: ledger, SVC_STATE_DIR: machine.path(host) });
    succeeded(await on('laptop', right));
    succeeded(await on('laptop', right, 'au resume 2026-12 --wait --out laptop.csv'));
    // A run in the wrong place stops, and leaves there what it tried the place with.
    ended(await on('runner-1', wrong), 9, { uploads: 1 });
    await copyOver(places, right, wrong);
    // A machine without copies knows the rows, also among new ones.
    ended(await on('runner-2', wrong), 0, { uploads: 1 });
    const rows = readFileSync(machine.path('work/tokens.csv'), 'utf8').trimEnd().split('\n');
    writeFileSync(machine.path('work/more.csv'), `${[...rows, 'one-more,,,'].join('\n')}\n`);
    ended(await on('runner-3', wrong, 'au submit more.csv --cycle 2026-12'), 0, {
      uploads: 2,
      row: { sent: 1, left_out: rows.length - 1 },
    });
    ended(await on('runner-1', wrong), 0, { uploads: 2 });
  },
);

it.each(['directory', 'bucket'])(
  'R58: a ledger of an earlier build that is copied over a place where a run began one, a %s, still knows all rows',
  async (kind) => {
    const earlier = await openEarlierLedger();
    const before = earlier.rowsReceived();
    const places = kind === 'directory' ? directories(earlier) : await prefixes(earlier);
    const { right, wrong, env } = places;
    await copyOver(places, earlier.path('shared'), right);
    const lines = ['au submit theirs.csv --cycle 2026-12', 'au submit other.csv', 'au submit sent.csv --cycle 2026-12'];
    const on = (host: string, line: string) =>
      earlier.newcomer(line, { ...env, SVC_LEDGER: wrong, SVC_STATE_DIR: earlier.path(host) });
    for (const line of lines) expect([line, (await on('runner-1', line)).code]).toEqual([line, 9]);
    await copyOver(places, right, wrong);
    for (const host of ['runner-2', 'runner-1'])
      for (const line of lines) expect([host, line, (await on(host, line)).code]).toEqual([host, line, 0]);
    expect(earlier.rowsReceived()).toEqual(before);
  },
);

it('R58: a machine that begins to share copies the rows of an earlier build, which another machine then finds in each spelling', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  const more = '6c4c85a6-17d3-4347-a302-a0ea9c770ee1,23,12,';
  // One row of its own makes the laptop open the ledger that machines share.
  earlier.writeRows('one.csv', [more]);
  const shared = { SVC_LEDGER: earlier.path('shared') };
  succeeded(await earlier.laptop('au submit one.csv --cycle 2026-12', shared));
  for (const line of ['au submit ours.csv --cycle 2026-12', 'au submit alone.csv', 'au submit uploaded.csv']) {
    succeeded(await earlier.newcomer(line));
  }
  for (const name of ['ours.csv', 'alone.csv']) earlier.writeRows(name, earlier.rowsOf(name).toReversed());
  succeeded(await earlier.runner('au submit ours.csv --cycle 2026-12'));
  succeeded(await earlier.runner('au submit alone.csv'));
  expect(earlier.rowsReceived().slice(before.length)).toEqual([more]);
});
