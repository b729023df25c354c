import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk, writeRows } from '../commands/support.ts';
import { forgetJobs } from '../recorded-run.ts';

const CYCLE = '--cycle 2026-12';
const HOUR = 3_600_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

type RunDesk = QuickDesk & { readonly run: string; readonly copy: string };

/** Opens a desk with a run of these rows, whose copy of them is damaged. */
async function damagedDesk(rows = ROWS.slice(0, 6), options = CYCLE): Promise<RunDesk> {
  const desk = await openQuickDesk({ processingMs: HOUR, pickupMs: 0 });
  writeRows(desk, 'tokens.csv', ...rows);
  const { code, stderr } = await desk.svc(`au submit tokens.csv ${options}`.trim());
  expect(code, stderr).toBe(0);
  const [run = ''] = desk.runIds();
  const copy = desk.home.file(`.local/state/svc/runs/${run}/run-request.csv`);
  const damaged = { ...desk, run, copy };
  damage(damaged);
  return damaged;
}

/** Changes one token of the copy, which keeps its size. */
function damage({ copy }: RunDesk): void {
  const text = readFileSync(copy, 'utf8');
  const at = text.indexOf('\n') + 1;
  writeFileSync(copy, `${text.slice(0, at)}${text[at] === 'f' ? 'e' : 'f'}${text.slice(at + 1)}`);
}

const REPEATING = [...ROWS.slice(0, 6), ROWS[0] ?? '', ROWS[5] ?? ''];

/** Removes the ledger, which versions before it did not have. The next command enters the recorded runs. */
function withoutLedger({ home }: QuickDesk): void {
  rmSync(home.file('.local/state/svc/ledger'), { recursive: true });
}

describe('a run of the cycle whose copy is damaged', () => {
  it.each([
    ['as it was', ROWS.slice(0, 6)],
    ['with repeated rows', REPEATING],
  ])('R79: a damaged copy is not entered in the ledger where the submitted file is intact, %s', async (_, rows) => {
    const desk = await damagedDesk(rows);
    withoutLedger(desk);
    writeRows(desk, 'more.csv', ...ROWS.slice(0, 1), ...ROWS.slice(5, 9));
    const { code, stderr } = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('2 of 5 rows of more.csv are in cycle 2026-12 already');
    expect(desk.received()[1]?.trimEnd().split('\n').slice(1)).toEqual(ROWS.slice(6, 9));
  });

  it('R79: a damaged copy whose submitted file is gone stops a file, without a command that pays again', async () => {
    const desk = await damagedDesk();
    withoutLedger(desk);
    writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 5));
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
    const job = desk.record(desk.run).parts[0]?.job ?? '';
    const refused = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect(errorIn(refused)).toMatchObject({ exit_code: 9, job, next: `svc au status ${job}` });
    expect(refused.stderr).toContain(`the rows of job ${job} in cycle 2026-12`);
    expect(desk.runIds()).toEqual([desk.run]);
    // The file itself continues its run, which takes another copy.
    await desk.clock.advance(HOUR);
    writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --wait --out results.csv`)).toMatchObject({ code: 0 });
    expect(readFileSync(desk.copy, 'utf8')).toBe([HEADER, ...ROWS.slice(0, 6), ''].join('\n'));
    expect(desk.uploads()).toBe(1);
  });
});

describe('the results of a run whose copy is damaged', () => {
  it.each([
    ['as it was, by svc au resume', ROWS.slice(0, 6), 'au resume'],
    ['with repeated rows, by svc au resume', REPEATING, 'au resume'],
    ['as it was, by svc au resume --wait', ROWS.slice(0, 6), 'au resume RUN --wait'],
    ['as it was, by svc au download', ROWS.slice(0, 6), 'au download RUN'],
  ])(
    'R71: the results of a run whose copy is damaged are compared with the submitted file, %s',
    async (_, rows, line) => {
      const desk = await damagedDesk(rows);
      await desk.clock.advance(HOUR);
      const synced = await desk.svc(line.replace('RUN', desk.run));
      expect(synced.code, synced.stderr).toBe(0);
      expect(synced.stderr).toContain(`the copy ${desk.copy} was damaged; it was replaced from`);
      expect(readFileSync(desk.copy, 'utf8')).toBe([HEADER, ...ROWS.slice(0, 6), ''].join('\n'));
      expect(desk.record(desk.run).parts).toMatchObject([{ state: 'downloaded', results: { compared: true } }]);
      expect((await desk.svc('au resume')).stderr).not.toContain('damaged');
    },
  );

  it('R71: the results of a run whose copy is damaged stay unproven where its submitted file is gone', async () => {
    const desk = await damagedDesk();
    rmSync(desk.home.file('tokens.csv'));
    await desk.clock.advance(HOUR);
    for (const line of ['au resume', `au resume ${desk.run} --wait`, `au download ${desk.run} --out other.csv`]) {
      const refused = await desk.svc(line);
      expect([line, refused.code], refused.stderr).toEqual([line, 12]);
      expect(refused.stderr).toContain(
        `could not be compared with the tokens of the request, whose copy ${desk.copy} is damaged`,
      );
      expect(refused.stderr).toContain(`svc au download ${desk.run} --accept-unproven`);
    }
    expect(desk.record(desk.run)).toMatchObject({ parts: [{ state: 'completed', unproven: {} }] });
    writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
    expect(desk.record(desk.run).parts).toMatchObject([{ state: 'downloaded', results: { compared: true } }]);
  });
});

/** Opens a desk whose run has yet to be uploaded, as its record and its ledger say. */
async function unsentDesk(): Promise<RunDesk> {
  const desk = await damagedDesk(ROWS.slice(0, 6), '');
  withoutLedger(desk);
  const job = desk.record(desk.run).parts[0]?.job ?? '';
  desk.change(desk.run, forgetJobs);
  expect(await desk.svc(`au ignore ${job} --yes`)).toMatchObject({ code: 0 });
  return desk;
}

describe('the upload of a run', () => {
  it.each(['au resume', 'au resume RUN'])(
    '%s uploads the rows of the submitted file where the copy is damaged',
    async (command) => {
      const desk = await unsentDesk();
      const line = command.replace('RUN', desk.run);
      const { code, stderr } = await desk.svc(line);
      expect(code, stderr).toBe(11);
      expect(stderr).toContain(`the copy ${desk.copy} was damaged; it was replaced from`);
      const [first, second] = desk.received();
      expect([desk.uploads(), second]).toEqual([2, first]);
    },
  );

  it('au resume names a damaged copy and uploads nothing where the submitted file has changed', async () => {
    const desk = await unsentDesk();
    appendFileSync(desk.home.file('tokens.csv'), `${ROWS[7]}\n`);
    const refused = await desk.svc('au resume');
    expect(refused.code, refused.stderr).toBe(12);
    expect(refused.stderr).toContain(desk.copy);
    expect(refused.stderr).not.toMatch(/--pay-again|--cycle/);
    expect(desk.uploads()).toBe(1);
  });
});

describe('the report of a run', () => {
  it('au report --run reads the submitted file where the copy is damaged, and names the copy once that is gone', async () => {
    const desk = await damagedDesk();
    await desk.clock.advance(HOUR);
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --wait --out results.csv`)).toMatchObject({ code: 0 });
    damage(desk);
    const read = await desk.svc(`au report --run ${desk.run}`);
    expect(read.code, read.stderr).toBe(0);
    expect(read.stderr).toContain('is read instead');
    rmSync(desk.home.file('tokens.csv'));
    const refused = await desk.svc(`au report --run ${desk.run}`);
    expect(errorIn(refused)).toMatchObject({
      exit_code: 1,
      next: `svc au report ${desk.home.file('results.csv')} --request <file>`,
    });
    expect(refused.stderr).toContain(`${desk.copy}, the copy of the request file of ${desk.run}, is damaged`);
  });
});
