import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { jobOfEarlierBuild } from '../ledger/job-of-earlier-build.ts';
import { openQuickDesk, writeRows } from './support.ts';

const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const [A = '', B = ''] = ROWS.map((row) => row.slice(0, 36));

/** A desk where an earlier build sent the rows of a job, and a refresh on a laptop has the rows of an export in that job. */
async function refreshedDesk(sent: readonly string[], exported: readonly string[]) {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1'] });
  const { on: svc } = desk;
  const read = (name: string): string[] => readFileSync(desk.home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  writeRows(desk, 'export.csv', ...exported);
  await jobOfEarlierBuild(desk, sent);
  writeFileSync(desk.home.file('keep.csv'), `row,token,customer\n1,${A},Ann\n2,${B},Ben\n`);
  const done = succeeded(
    await svc('laptop', 'au refresh export.csv --cycle 2026-12 --next --verbose --fail-on err=100%'),
  );
  return { svc, read, stderr: done.stderr };
}

const newTokenOf = (row: string): string => row.split(',')[1] ?? '';

it('au refresh --next: a row takes the new token of its card where the first result of its token is the error of another merchant', async () => {
  const { read } = await refreshedDesk(
    [`${A},28,05,WRONG`, `${A},28,05,M1`, `${B},28,05,M1`],
    [`${A},28,05,M1`, `${B},28,05,M1`],
  );
  const [ofA = '', ofB = ''] = read('refresh/2026-12/todo/replace.csv').map(newTokenOf);
  expect(read('refresh/2026-12/next.csv').map((row) => row.slice(0, 36))).toEqual([ofA, ofB]);
  expect(read('refresh/2026-12/todo/fix.csv')).toHaveLength(1);
});

it('au refresh --next: no row keeps an old token where another machine has the rows of the token in another order', async () => {
  const { read } = await refreshedDesk(
    [`${A},28,05,M1`, `${A},28,05,WRONG`, `${B},28,05,M1`],
    [`${A},28,05,WRONG`, `${A},28,05,M1`, `${B},28,05,M1`],
  );
  const [ofA = '', ofB = ''] = read('refresh/2026-12/todo/replace.csv').map(newTokenOf);
  const next = read('refresh/2026-12/next.csv').map((row) => [row.slice(0, 36), row.split(',')[3]]);
  expect(next).toEqual([
    [ofA, 'WRONG'],
    [ofA, 'M1'],
    [ofB, 'M1'],
  ]);
});

it.each([
  [
    'does not have all rows of',
    [`${A},28,05,WRONG`, `${A},28,05,M1`, `${B},28,05,M1`],
    [`${A},28,05,M1`, `${B},28,05,M1`],
  ],
  ['has in another order', [`${A},28,05,M1`, `${A},28,05,WRONG`], [`${A},28,05,WRONG`, `${A},28,05,M1`]],
])(
  'au refresh --next shows no svc au next command where it writes another file: the export %s the tokens of the job of another machine',
  async (_, sent, exported) => {
    const { stderr } = await refreshedDesk(sent, exported);
    const step = stderr.slice(stderr.indexOf('step 5 of 5, next: '));
    expect(step).toContain(
      "no single command writes it, since some results of another machine's job may be those of other rows: ",
    );
    expect(step).not.toContain('svc au next');
  },
);

it('au refresh --next shows a command that writes the same file where each token of another machine has one row', async () => {
  const { stderr, svc, read } = await refreshedDesk([`${A},28,05,M1`, `${B},28,05,M1`], [`${B},28,05,M1`]);
  const [command = ''] = /svc au next .*/.exec(stderr) ?? [];
  rowOf(await svc('laptop', command.replace('svc ', '').replace(/--out \S+/, '--out by-hand.csv')));
  expect(read('by-hand.csv')).toEqual(read('refresh/2026-12/next.csv'));
});

it('au report --keep: kept columns stay empty where a token has more results than rows, some of which are those of another merchant', async () => {
  const { svc, read } = await refreshedDesk(
    [`${A},28,05,WRONG`, `${A},28,05,M1`, `${B},28,05,M1`],
    [`${A},28,05,M1`, `${B},28,05,M1`],
  );
  const results = 'refresh/2026-12/results.csv';
  const done = await svc('laptop', `au report ${results} --request export.csv --keep keep.csv --split-into split`);
  // The file has a result for a row that the request does not have.
  expect(done.code).toBe(12);
  expect(done.stderr).toContain('kept columns are left empty in 2 rows');
  const kept = [...read('split/replace.csv'), ...read('split/fix.csv')].map((row) => [
    row.slice(0, 36),
    row.split(',')[7],
  ]);
  expect(kept).toEqual([
    [A, ''],
    [B, 'Ben'],
    [A, ''],
  ]);
});

it('svc au refresh names the lock of a pod that was killed, without which another pod goes on and pays for nothing twice', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const refresh = 'au refresh export.csv --cycle 2026-12 --fail-on err=100%';
  const { on: svc } = desk;
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  ended(await svc('pod-1', `${refresh} --no-wait`), 11);
  const lock = desk.home.file('refresh/2026-12/.refresh.lock');
  const owner = { pid: 12, token: '0123456789abcdef', since: '2026-12-01T00:00:00.000Z', place: 'pod-1 pid:[1]' };
  writeFileSync(lock, JSON.stringify(owner));
  ended(await svc('pod-2', refresh), 3, {
    error: {
      message:
        'the refresh of cycle 2026-12 in refresh/2026-12 is locked by process 12 on another machine or container (pod-1) since 2026-12-01T00:00:00.000Z',
      hint: `This machine cannot tell whether it still runs. If no svc runs there any more, delete ${lock} and run the command again. Delete no other file: with the same ledger, the command then goes on and pays for no row twice. Meanwhile svc au status shows what is open.`,
    },
  });
  // The results of the cycle need no lock of its directory.
  succeeded(await svc('pod-3', 'au resume 2026-12 --wait --out results.csv'));
  rmSync(lock);
  expect(rowOf(await svc('pod-4', refresh))).toMatchObject({ status: 'completed', rows: ROWS.length });
  expect(desk.uploads()).toBe(1);
  const read = (name: string): string => readFileSync(desk.home.file(name), 'utf8');
  expect(read('refresh/2026-12/results.csv')).toBe(read('results.csv'));
});
