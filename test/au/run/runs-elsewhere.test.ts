import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { indexedRuns, indexEntriesOf } from '../../../src/au/run/runs-elsewhere.ts';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const RUNS = '.local/state/svc/runs';
const SUBMIT = 'au submit tokens.csv';

/** A desk with a run that an earlier version recorded in a directory of the operator. */
async function deskWithRunElsewhere(): Promise<QuickDesk & { readonly run: string; readonly root: string }> {
  const desk = await openQuickDesk();
  const { code, stderr } = await desk.svc(SUBMIT);
  expect(code, stderr).toBe(0);
  const [run = ''] = desk.runIds();
  desk.change(run, (record) => Object.assign(record, { version: 1 }));
  desk.recordElsewhere(run, 'kept');
  return { ...desk, run, root: desk.home.file(RUNS) };
}

it('R58: a run that an earlier version recorded elsewhere is listed, waited for and delivered', async () => {
  const desk = await deskWithRunElsewhere();
  const listed = await desk.svc('au runs');
  expect(JSON.parse(listed.stdout)).toMatchObject({ run: desk.run, status: 'pending' });
  expect(await desk.svc('au wait kept')).toMatchObject({ code: 0 });
  expect(readFileSync(desk.home.file('tokens.results.csv'), 'utf8')).toMatch(/^token,/);
  expect(desk.uploads()).toBe(1);
});

it('R58: a run that an earlier version recorded elsewhere is the run of its file, under any profile name', async () => {
  const desk = await deskWithRunElsewhere();
  for (const line of [SUBMIT, `${SUBMIT} --wait`, `${SUBMIT} --wait`]) {
    const { code, stdout, stderr } = await desk.svc(line);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ run: desk.run });
  }
  expect(desk.uploads()).toBe(1);
});

it('R58: a run that an earlier version recorded elsewhere is gone on with by sync and resume, once', async () => {
  const desk = await deskWithRunElsewhere();
  expect(await desk.svc('au sync')).toMatchObject({ code: 0 });
  expect(await desk.svc('au resume kept --wait')).toMatchObject({ code: 0 });
  expect(desk.uploads()).toBe(1);
});

it('R58 and R79: a run that an earlier version recorded elsewhere has its rows in the ledger, although that was lost', async () => {
  const desk = await deskWithRunElsewhere();
  desk.change('kept', (record) => Object.assign(record, { cycle: '2026-12' }));
  rmSync(desk.home.file('.local/state/svc/ledger'), { recursive: true });
  const tokens = readFileSync(desk.home.file('tokens.csv'), 'utf8');
  writeFileSync(desk.home.file('more.csv'), `${tokens}one-more,27,01,\n`);
  const { code, stderr } = await desk.svc('au submit more.csv --cycle 2026-12');
  expect(code, stderr).toBe(0);
  expect(desk.received().slice(1)).toEqual([expect.stringMatching(/^token.*\none-more,27,01,\n$/)]);
});

it('R58: a run that an earlier version recorded elsewhere is found where it was moved into the state directory', async () => {
  const desk = await deskWithRunElsewhere();
  renameSync(desk.home.file('kept'), join(desk.root, desk.run));
  expect(await desk.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 0 });
  expect(desk.uploads()).toBe(1);
});

it('R58: a run that an earlier version recorded elsewhere stops its file when its directory is gone, until it is abandoned', async () => {
  const desk = await deskWithRunElsewhere();
  rmSync(desk.home.file('kept'), { recursive: true });
  const refused = await desk.svc(SUBMIT);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(desk.home.file('kept'));
  // Another file is in nobody's way.
  writeFileSync(desk.home.file('more.csv'), 'token,expiration_year,expiration_month,merchant_id\none-more,27,01,\n');
  expect(await desk.svc('au submit more.csv')).toMatchObject({ code: 0 });
  expect(await desk.svc('au abandon kept --yes')).toMatchObject({ code: 0 });
  expect(await desk.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 0 });
  // The ledger still has the rows, so that they are not paid for again.
  expect(desk.uploads()).toBe(2);
});

it('R58: a run that an earlier version recorded elsewhere is said to be gone where another run took its directory', async () => {
  const desk = await deskWithRunElsewhere();
  const record = { ...desk.record('kept'), id: 'run-20260105-bbbbbbbb-0000' };
  writeFileSync(desk.home.file('kept/run.json'), JSON.stringify(record));
  const refused = await desk.svc(SUBMIT);
  expect(refused.code, refused.stderr).toBe(3);
  expect(errorIn(refused)['message']).toContain(`${desk.run} is no longer in ${desk.home.file('kept')}`);
  expect(desk.uploads()).toBe(1);
});

it.each(['', '{', '[]', '{"directory":1}'])(
  'R58: a run that an earlier version recorded elsewhere may be behind a damaged entry, which stops its file: %j',
  async (text) => {
    const desk = await deskWithRunElsewhere();
    const entry = join(desk.root, 'elsewhere', `${desk.run}.json`);
    writeFileSync(entry, text);
    writeFileSync(join(desk.root, 'elsewhere', 'notes.json'), '{');
    const refused = await desk.svc(SUBMIT);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('it does not say where its run is recorded');
    expect(desk.uploads()).toBe(1);
  },
);

it('a run that an earlier version recorded elsewhere is indexed under the path of its directory', async () => {
  const { home, root, run } = await deskWithRunElsewhere();
  const entry = join(root, 'elsewhere', `${run}.json`);
  expect(indexEntriesOf(root, home.file('kept'))).toEqual([entry]);
  expect(indexEntriesOf(root, entry)).toEqual([entry]);
  expect(indexEntriesOf(root, home.file('other'))).toEqual([]);
  expect((await indexedRuns(root, () => true)).runs.map(({ record }) => record.id)).toEqual([run]);
  expect(await indexedRuns(root, () => false)).toEqual({ runs: [], unreadable: [] });
  mkdirSync(home.file('backup'));
  cpSync(home.file('kept'), home.file('backup/copy'), { recursive: true });
  expect((await indexedRuns(root, () => true)).unreadable).toEqual([]);
});
