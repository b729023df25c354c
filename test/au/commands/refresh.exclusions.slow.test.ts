import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../../src/base/files/lock.ts';
import { FIRST_TENANT } from '../../../src/emulator/keys.ts';
import { DEFAULT_SEED, seedOf } from '../../../src/emulator/seed/logs.ts';
import { TEST_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, errorIn, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

const LIST = 'refresh/exclusions.csv';
const JANUARY = 'au refresh export.csv --cycle 2027-01 --fail-on err=100%';
const DECEMBER = JANUARY.replace('2027-01', '2026-12');
const NOVEMBER = JANUARY.replace('2027-01', '2026-11');
/** The number of rows, and of those whose accounts are closed in the first cycle. */
const ROWS = exampleRequestFile().trimEnd().split('\n').length - 1;
const CLOSED = 7;
const MONTH_MS = 31 * 86_400_000;

/** A desk on which the first cycle put closed accounts on the list of exclusions. */
async function openSecondCycle(options: Parameters<typeof openQuickDesk>[0] = {}) {
  const desk = await openQuickDesk(options);
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  succeeded(await desk.svc('au refresh export.csv --cycle 2026-12 --fail-on err=100%'));
  const list = desk.home.file(LIST);
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(1 + CLOSED);
  // The next month begins later, so that its rows are not taken for those of this one.
  await desk.clock.advance(MONTH_MS);
  return { desk, list, lines };
}

/** A desk on which a cycle without closed accounts came before one that put some on the list. */
async function openAfterEmptyCycle() {
  const desk = await openQuickDesk();
  const { clock, home } = desk;
  const lines = exampleRequestFile().trimEnd().split('\n');
  writeFileSync(home.file('export.csv'), `${lines.slice(0, 3).join('\n')}\n`);
  expect(rowOf(await desk.svc(NOVEMBER))).toMatchObject({ excluded: 0 });
  await clock.advance(MONTH_MS);
  writeFileSync(home.file('export.csv'), exampleRequestFile());
  expect(rowOf(await desk.svc(DECEMBER))).toMatchObject({ excluded: CLOSED });
  await clock.advance(MONTH_MS);
  return { desk, list: home.file(LIST), record: (cycle: string) => home.file(`refresh/${cycle}/refresh.json`) };
}

describe('svc au refresh and exclusions.csv', () => {
  it.each(['', '--dry-run '])(
    'the list of exclusions ends the next cycle %swith 3 when it is gone, and names both ways on',
    async (option) => {
      const { desk, list } = await openSecondCycle();
      rmSync(list);
      const january = JANUARY.replace('--fail-on', `${option}--fail-on`);
      ended(await desk.svc(january), 3, {
        error: {
          message: `${LIST} is gone; it listed ${CLOSED} tokens to leave out`,
          hint: 'Put the file back and run the same command again, or go on without it: the rows that it left out are then submitted and billed.',
          next: `svc ${january}`,
          alternatives: [`svc ${january} --exclusions none`],
        },
      });
      expect([desk.uploads(), existsSync(desk.home.file('refresh/2027-01'))]).toEqual([1, false]);
    },
  );

  it('the list of exclusions is not missed with --exclusions none, which is said', async () => {
    const { desk, list } = await openSecondCycle();
    rmSync(list);
    ended(
      await desk.svc(`${JANUARY} --exclusions none`),
      0,
      `no row of this request is left out because of ${LIST} (--exclusions none)`,
      { row: { rows: ROWS } },
    );
    // The same command goes on, also without the option, and the next cycle uses the list that this one made.
    expect(rowOf(await desk.svc(JANUARY))).toMatchObject({ status: 'completed', rows: ROWS });
    await desk.clock.advance(MONTH_MS);
    expect(rowOf(await desk.svc(JANUARY.replace('2027-01', '2027-02')))).toMatchObject({ rows: ROWS - CLOSED });
    expect(desk.uploads()).toBe(3);
  });

  it.each([
    { where: 'which is not mounted', options: '', gone: true },
    { where: 'while another one is named', options: ' --out-dir other', gone: false },
    { where: 'which is not mounted while another one is named', options: ' --out-dir other', gone: true },
  ])('the list of exclusions is missed with the directory of all cycles, $where', async ({ options, gone }) => {
    const { desk } = await openSecondCycle();
    const [own, away] = [desk.home.file('refresh'), desk.home.file('away')];
    if (gone) renameSync(own, away);
    for (const dry of ['--dry-run ', '']) {
      const january = JANUARY.replace('--fail-on', `${dry}--fail-on`);
      const refused = ended(await desk.svc(january + options), 3, { uploads: 1 });
      const { message, next, alternatives } = errorIn(refused);
      expect(message).toBe(
        `${options === '' ? 'refresh' : 'other'}/exclusions.csv does not exist, and results of earlier cycles, such as 2026-12, had ${CLOSED} closed accounts`,
      );
      expect(alternatives).toEqual([expect.stringContaining(' --exclusions none')]);
      expect(next).toBe(`svc ${january.replace(' 2027-01', ` 2027-01${options}`)}`);
    }
    expect([existsSync(own), existsSync(desk.home.file('other'))]).toEqual([!gone, false]);
    if (gone) renameSync(away, own);
    expect(rowOf(await desk.svc(`${JANUARY} --out-dir ${own}`))).toMatchObject({ rows: ROWS - CLOSED });
  });

  it('the list of exclusions of another tenant is not missed in the directory that the refusal of its cycles names', async () => {
    const { desk } = await openSecondCycle({ tenants: ['test', 'test'] });
    writeFileSync(desk.home.file('export.csv'), exampleRequestFile(seedOf(DEFAULT_SEED, FIRST_TENANT + 1)));
    const other = { SVC_PRIVATE_API_KEY: 'sandbox-2-private-key' };
    const refused = ended(await desk.svc(JANUARY, other), 3);
    const [named = ''] = errorIn(refused)['alternatives'] as string[];
    expect(named).toMatch(/ --out-dir refresh-\w{8}$/);
    expect(rowOf(await desk.svc(named.replace('svc ', ''), other))).toMatchObject({ rows: ROWS, excluded: CLOSED });
    const own = await desk.svc(`${JANUARY.replace('2027-01', '2027-02')} --out-dir third`, other);
    expect(errorIn(own)['message']).toContain(`such as 2027-01, had ${CLOSED} closed accounts`);
  });

  it('the list of exclusions is not missed in another directory where no earlier cycle made one', async () => {
    const { clock, home, svc } = await openQuickDesk();
    writeFileSync(home.file('export.csv'), `${exampleRequestFile().split('\n').slice(0, 3).join('\n')}\n`);
    expect(rowOf(await svc(NOVEMBER))).toMatchObject({ excluded: 0 });
    await clock.advance(MONTH_MS);
    expect(rowOf(await svc(`${DECEMBER} --out-dir other`))).toMatchObject({ excluded: 0 });
  });

  it('the list of exclusions leads to a warning with both numbers once when it lost tokens', async () => {
    const { desk, list, lines } = await openSecondCycle();
    writeFileSync(list, `${lines.slice(0, 3).join('\n')}\n`);
    const done = await desk.svc(`${JANUARY} --no-wait`);
    const warning = `warning: ${LIST} lists 2 tokens, and it listed ${CLOSED} before: rows of the others are no longer left out`;
    expect(done.stderr.split(warning)).toHaveLength(2);
    expect((await desk.svc(JANUARY)).stderr).not.toContain(warning);
  });

  it('the list of exclusions is missed before the next request too, once results are there, whether or not --fail-on is met', async () => {
    const { desk, list } = await openSecondCycle({ processingMs: 60_000 });
    ended(await desk.svc(`${JANUARY} --no-wait`), 11);
    rmSync(list);
    ended(await desk.svc(JANUARY), 3);
    ended(await desk.svc(JANUARY.replace('err=100%', 'err')), 10, `${LIST} is gone`);
    // The cycle is still open.
    expect(rowOf(await desk.svc('au refresh --fail-on err=100% --exclusions none'))).toMatchObject({
      cycle: '2027-01',
      status: 'completed',
    });
    expect(desk.uploads()).toBe(2);
  });

  it('the list of exclusions is missed in a later cycle although the record of an earlier one was written after it', async () => {
    const { desk, list, record } = await openAfterEmptyCycle();
    expect(rowOf(await desk.svc('au refresh --cycle 2026-11'))).toMatchObject({ status: 'completed' });
    utimesSync(record('2026-12'), 1, 1);
    rmSync(list);
    expect(errorIn(await desk.svc(JANUARY))).toMatchObject({ code: 'config', file: LIST, tokens: CLOSED });
    expect(desk.uploads()).toBe(2);
  });

  it('the list of exclusions is missed after a cycle that went on without it while it was there', async () => {
    const { desk, list } = await openSecondCycle();
    ended(await desk.svc(`${JANUARY} --exclusions none --fail-on err=1%`), 10);
    rmSync(list);
    const refused = await desk.svc(JANUARY.replace('2027-01', '2027-02'));
    expect(errorIn(refused)).toMatchObject({ code: 'config', tokens: CLOSED });
    expect(desk.uploads()).toBe(2);
  });

  it.each([
    { how: 'with --next', options: ' --next', added: 0 },
    { how: 'with another action', options: ' --action ERR_UNDEFINED=exclude', added: 1 },
    { how: 'with the rows of another export', options: ' --add', added: 1 },
  ])('the list of exclusions gets a removed line of a cycle no second time $how', async ({ options, added }) => {
    const desk = await openQuickDesk();
    const [header = '', ...rows] = exampleRequestFile().trimEnd().split('\n');
    const write = (some: readonly string[]): void =>
      writeFileSync(desk.home.file('export.csv'), [header, ...some, ''].join('\n'));
    const closed = rows[TEST_CARDS.findIndex(({ code }) => code === 'WRN_CLOSED_ACCOUNT')] ?? '';
    write(options === ' --add' ? rows.filter((row) => row !== closed) : rows);
    succeeded(await desk.svc(DECEMBER));
    const list = desk.home.file(LIST);
    const kept = readFileSync(list, 'utf8').split('\n').toSpliced(1, 1).join('\n');
    writeFileSync(list, kept);
    write(rows);
    succeeded(await desk.svc(DECEMBER + options));
    expect(readFileSync(list, 'utf8').startsWith(kept)).toBe(true);
    expect(readFileSync(list, 'utf8').split('\n')).toHaveLength(kept.split('\n').length + added);
  });

  it('the list of exclusions has the closed accounts of a cycle whose --fail-on is met, which are not billed again', async () => {
    const desk = await openQuickDesk();
    writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
    ended(await desk.svc(DECEMBER.replace('err=100%', 'err')), 10, { row: { excluded: CLOSED, exclusions: LIST } });
    await desk.clock.advance(MONTH_MS);
    expect(rowOf(await desk.svc(JANUARY))).toMatchObject({ rows: ROWS - CLOSED });
  });

  it('the list of exclusions that another process extends for long ends the refresh with 11, and the same command goes on', async () => {
    const { desk } = await openSecondCycle();
    const host = { pid: process.pid, isAlive: () => true, clock: desk.clock, signal: new AbortController().signal };
    ended(await withLock(desk.home.file('refresh/.exclusions.csv.lock'), host, () => desk.svc(JANUARY)), 11, {
      row: { excluded: null },
      error: { held_by: process.pid },
    });
    expect(rowOf(await desk.svc(JANUARY))).toMatchObject({ status: 'completed', excluded: 0 });
    expect(readdirSync(desk.home.file('refresh'))).not.toContain('.exclusions.csv.lock');
    expect(desk.uploads()).toBe(2);
  });
});
