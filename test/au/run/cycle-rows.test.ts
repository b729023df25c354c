import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';
import { openMachine } from '../commands/machine.ts';
import type { HereResult } from '../../support/run-here.ts';

const CYCLE = '--cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
/** A token that the vault does not have: its result is an error. */
const UNKNOWN = ROWS.at(-1) ?? '';

function request(...rows: readonly string[]): string {
  return [HEADER, ...rows, ''].join('\n');
}

/** Opens a desk on which the first rows of the example file are submitted in a cycle. */
async function submittedDesk(options = '', rows = ROWS.slice(0, 6)): Promise<QuickDesk & { readonly run: string }> {
  const desk = await openQuickDesk();
  writeFileSync(desk.home.file('tokens.csv'), request(...rows));
  const { code, stderr } = await desk.svc(`au submit tokens.csv ${CYCLE} ${options}`.trim());
  expect(code, stderr).toBe(0);
  return { ...desk, run: desk.runIds()[0] ?? '' };
}

function write({ home }: QuickDesk, name: string, ...rows: readonly string[]): void {
  writeFileSync(home.file(name), request(...rows));
}

/** Marks the jobs of a run as failed. */
function fail({ change }: QuickDesk, run: string): void {
  change(run, ({ parts }) => {
    for (const part of parts) Object.assign(part, { state: 'failed', errors: ['made up'] });
  });
}

/** Returns the rows in the request copies of all other runs. */
function rowsOfOthers({ runIds, home }: QuickDesk, run: string): string[] {
  const others = runIds().filter((name) => name !== run);
  const copies = others.map((name) => readFileSync(home.file(`.local/state/svc/runs/${name}/run-request.csv`), 'utf8'));
  return copies.flatMap((copy) => copy.trimEnd().split('\n').slice(1));
}

function errorIn({ stderr }: HereResult): Record<string, unknown> {
  return JSON.parse(stderr.split('\n').findLast((line) => line.startsWith('{')) ?? '{}') as Record<string, unknown>;
}

describe('a file of a cycle', () => {
  it('R79: a file of a cycle whose rows are all new is submitted, and the other runs of the cycle are named', async () => {
    const desk = await submittedDesk();
    write(desk, 'west.csv', ...ROWS.slice(6, 9));
    const { code, stderr } = await desk.svc(`au submit west.csv ${CYCLE}`);
    expect({ code, uploads: desk.uploads() }).toEqual({ code: 0, uploads: 2 });
    expect(stderr).toMatch(/^cycle 2026-12 also has run-\S+ \(tokens\.csv, 6 rows, \d+s ago\); no row is in both$/m);
  });

  it('R79: a file that shares rows with a run of its cycle ends with 6, naming run, time and how many', async () => {
    const desk = await submittedDesk();
    await desk.clock.advance(240_000);
    write(desk, 'more.csv', ...ROWS.slice(4, 9).toReversed());
    const refused = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect({ code: refused.code, uploads: desk.uploads(), runs: desk.runIds().length }).toEqual({
      code: 6,
      uploads: 1,
      runs: 1,
    });
    const { message, next, alternatives, ...facts } = errorIn(refused);
    expect(message).toMatch(
      /^2 of the 5 rows of more\.csv were submitted in cycle 2026-12 before, in run-\S+ \(tokens\.csv, 6 rows, 4m( \d+s)? ago\); nothing was submitted$/,
    );
    expect(next).toBe(`svc au submit more.csv ${CYCLE} --only-new`);
    expect(alternatives).toEqual([`svc au submit more.csv ${CYCLE} --also`]);
    expect(facts).toMatchObject({
      hint: '--only-new submits the other 3 rows. --also submits all 5 rows, of which 2 are billed again.',
      new_rows: 3,
      shared_rows: 2,
      runs: [{ run: desk.run, rows: 2 }],
    });
  });

  it('R79: a file that changed since it was submitted in the cycle ends with 6 too', async () => {
    const desk = await submittedDesk();
    write(desk, 'tokens.csv', ...ROWS.slice(0, 7));
    const { code, stderr } = await desk.svc(`au submit tokens.csv ${CYCLE}`);
    expect({ code, uploads: desk.uploads() }).toEqual({ code: 6, uploads: 1 });
    expect(stderr).not.toContain('this is a new run');
  });

  it('R79: a token for another merchant is another row', async () => {
    const desk = await submittedDesk();
    write(desk, 'other.csv', ...ROWS.slice(0, 2).map((row) => `${row}merchant-2`));
    expect(await desk.svc(`au submit other.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('R79: a file may share rows with another cycle, and with runs that have none', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(0, 3));
    expect(await desk.svc('au submit more.csv --cycle 2027-01')).toMatchObject({ code: 0 });
    write(desk, 'again.csv', ...ROWS.slice(0, 2));
    expect(await desk.svc('au submit again.csv')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(3);
  });

  it('rows with another expiration are the same rows, and are counted apart', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ROWS[0] ?? '', (ROWS[1] ?? '').replace(/,\d\d,\d\d,/, ',39,12,'));
    const refused = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect(errorIn(refused)).toMatchObject({ exit_code: 6, shared_rows: 2, changed_rows: 1 });
    expect(refused.stderr).toContain('all 2 rows of more.csv (1 with another expiration) were submitted');
    expect(errorIn(refused)['next']).toBe(`svc au status ${desk.run}`);
  });

  it('R79: a dry run compares the file before it shows what would be done', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(await desk.svc(`au submit more.csv ${CYCLE} --dry-run`)).toMatchObject({ code: 6 });
    const planned = await desk.svc(`au submit more.csv ${CYCLE} --dry-run --only-new`);
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.stderr).toContain('dry run: nothing was sent; it would create 1 job for 3 rows');
    expect({ uploads: desk.uploads(), runs: desk.runIds().length }).toEqual({ uploads: 1, runs: 1 });
  });

  it('R79: a file is compared with runs that are recorded elsewhere, wherever its own is', async () => {
    const desk = await openQuickDesk();
    write(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --run-dir first`)).toMatchObject({ code: 0 });
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    const refused = await desk.svc(`au submit more.csv ${CYCLE} --run-dir second`);
    expect(refused.code).toBe(6);
    expect(errorIn(refused)['next']).toBe(`svc au submit more.csv ${CYCLE} --run-dir second --only-new`);
    expect(await desk.svc(`au submit more.csv ${CYCLE} --run-dir second --only-new`)).toMatchObject({ code: 0 });
    expect(desk.record('second').input.rows).toBe(3);
    const again = await desk.svc(`au submit more.csv ${CYCLE} --run-dir second --only-new --wait`);
    expect(again).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });
});

describe('au submit --only-new', () => {
  it('R79: --only-new submits the rows that no run of the cycle has, and says what it leaves out', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    const { code, stdout, stderr } = await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(
      /^2 of the 5 rows of more\.csv were submitted in cycle 2026-12 before, in run-\S+ \(.*\); left out$/m,
    );
    expect(JSON.parse(stdout)).toMatchObject({ file: 'more.csv', rows: 3 });
    expect(rowsOfOthers(desk, desk.run)).toEqual(ROWS.slice(6, 9));
  });

  it('R79: a run of new rows is resumed by the same command, with or without --only-new, before anything is compared', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    for (const line of [`au submit more.csv ${CYCLE} --only-new --wait`, `au submit more.csv ${CYCLE} --wait`]) {
      const { code, stdout, stderr } = await desk.svc(line);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ rows: 3, results: { compared: true } });
    }
    expect(desk.uploads()).toBe(2);
  });

  it('R79: a resumed run of new rows warns of rows that it left out, and whose own run has failed since', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    const line = `au submit more.csv ${CYCLE} --only-new --wait`;
    fail(desk, desk.run);
    const again = await desk.svc(line);
    expect({ code: again.code, uploads: desk.uploads() }).toEqual({ code: 0, uploads: 2 });
    expect(again.stderr).toContain(
      `2 rows of more.csv were left out before, and no run of cycle 2026-12 has them now: jobs of ${desk.run} failed`,
    );
    expect(again.stderr).toContain(`svc au resume ${desk.run} --retry-failed`);
    desk.change(desk.run, ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'uploaded', errors: undefined });
    });
    expect((await desk.svc(line)).stderr).not.toContain('left out before');
  });

  it('R79: --only-new submits a file whose rows are all new as it is', async () => {
    const desk = await openQuickDesk();
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --only-new`)).toMatchObject({ code: 0 });
    expect(desk.record(desk.runIds()[0] ?? '').input).not.toHaveProperty('source_sha256');
  });

  it('R79: --only-new ends with 0 and "nothing new" where every row was submitted', async () => {
    const desk = await submittedDesk();
    write(desk, 'less.csv', ...ROWS.slice(0, 4).toReversed());
    const { code, stdout, stderr } = await desk.svc(`au submit less.csv ${CYCLE} --only-new`);
    expect({ code, uploads: desk.uploads(), runs: desk.runIds().length }).toEqual({ code: 0, uploads: 1, runs: 1 });
    expect(JSON.parse(stdout)).toMatchObject({ run: null, status: 'nothing_new', rows: 0, jobs: [] });
    expect(stderr).toMatch(
      /^nothing new: all 4 rows of less\.csv were submitted .* in run-\S+ .*; nothing was submitted$/m,
    );
  });

  it('R79: --only-new --wait does not end with 0 while the run that has every row is open', async () => {
    const desk = await submittedDesk();
    write(desk, 'less.csv', ...ROWS.slice(0, 4));
    const line = `au submit less.csv ${CYCLE} --only-new --wait`;
    const refused = await desk.svc(line);
    expect(errorIn(refused)).toMatchObject({ exit_code: 6, next: `svc au wait ${desk.run}` });
    expect(await desk.svc(`au wait ${desk.run}`)).toMatchObject({ code: 0 });
    expect(await desk.svc(line)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('R79: a row that ended in an error is new once it has changed, and the unchanged ones are counted', async () => {
    const rows = [ROWS[0] ?? '', UNKNOWN, UNKNOWN.replace(/^.{4}/, 'ffff')];
    const desk = await submittedDesk('--wait', rows);
    const corrected = UNKNOWN.replace(/,\d\d,\d\d,/, ',39,12,');
    write(desk, 'fixed.csv', rows[0] ?? '', corrected, rows[2] ?? '');
    const { code, stderr } = await desk.svc(`au submit fixed.csv ${CYCLE} --only-new`);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('1 row ended in an error and has not changed; --also submits it\n');
    expect(rowsOfOthers(desk, desk.run)).toEqual([corrected]);
  });

  it('R79: a row whose results are not here is not taken for an error', async () => {
    const desk = await submittedDesk('', [UNKNOWN]);
    write(desk, 'fixed.csv', UNKNOWN.replace(/,\d\d,\d\d,/, ',39,12,'));
    expect(await desk.svc(`au submit fixed.csv ${CYCLE}`)).toMatchObject({ code: 6 });
    expect(desk.uploads()).toBe(1);
  });

  it.each([
    [`${CYCLE} --only-new --also`, 'exclude each other'],
    [`${CYCLE} --only-new --again`, 'exclude each other'],
    ['--only-new', 'need --cycle'],
    ['--also', 'need --cycle'],
  ])('au submit with %s is refused before anything is read', async (options, problem) => {
    const desk = await openQuickDesk();
    const { code, stderr } = await desk.svc(`au submit missing.csv ${options}`);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
  });
});

describe('au submit --also', () => {
  it('R79: --also submits all rows, and says how many are billed again', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    const { code, stderr } = await desk.svc(`au submit more.csv ${CYCLE} --also`);
    expect({ code, uploads: desk.uploads() }).toEqual({ code: 0, uploads: 2 });
    expect(stderr).toMatch(/^warning: 2 of the 5 rows of more\.csv were submitted .*; of which 2 are billed again$/m);
    expect(rowsOfOthers(desk, desk.run)).toEqual(ROWS.slice(4, 9));
    // The same command resumes the run, with or without --also.
    for (const more of [' --also', ''])
      expect(await desk.svc(`au submit more.csv ${CYCLE}${more}`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('R79: --also is about the runs that there were, and about no later one', async () => {
    const desk = await submittedDesk();
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    await desk.svc(`au submit more.csv ${CYCLE} --also`);
    const second = desk.runIds().find((run) => run !== desk.run) ?? '';
    expect(desk.record(second).repeats).toEqual([desk.run]);
    fail(desk, second);
    write(desk, 'third.csv', ...ROWS.slice(6, 9));
    expect(await desk.svc(`au submit third.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    expect(errorIn(await desk.svc(`au submit more.csv ${CYCLE}`))).toMatchObject({ exit_code: 6, shared_rows: 3 });
    expect(desk.uploads()).toBe(3);
  });
});

describe('runs of a cycle', () => {
  it('R79 and R75: a run that sent nothing does not count', async () => {
    const desk = await openQuickDesk();
    write(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    const failed = await desk.svc(`au submit tokens.csv ${CYCLE}`, {
      SVC_PRIVATE_API_KEY: 'sandbox-private-key-read-only',
    });
    expect(failed.code).toBe(4);
    write(desk, 'more.csv', ...ROWS.slice(0, 3));
    expect(await desk.svc(`au submit more.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    // Another run has sent some of the rows that the first run did not send.
    const refused = await desk.svc(`au submit tokens.csv ${CYCLE}`);
    expect(refused.code).toBe(6);
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --only-new`)).toMatchObject({ code: 0 });
    expect(await desk.svc('au sync')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('R79: an abandoned run counts as far as it was uploaded', async () => {
    const desk = await submittedDesk();
    await desk.svc(`au abandon ${desk.run} --yes`);
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(await desk.svc(`au submit more.csv ${CYCLE}`)).toMatchObject({ code: 6 });
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --only-new`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('R79: rows of a failed job do not count, and are not sent again once another run has them', async () => {
    const desk = await submittedDesk();
    fail(desk, desk.run);
    write(desk, 'more.csv', ...ROWS.slice(0, 3));
    expect(await desk.svc(`au submit more.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    const refused = await desk.svc(`au submit tokens.csv ${CYCLE}`);
    expect(refused.code).toBe(6);
    expect(errorIn(refused)['message']).toMatch(/^3 of the 6 rows that run-\S+ has yet to upload were submitted/);
    expect(errorIn(refused)).toMatchObject({
      next: `svc au abandon ${desk.run}`,
      alternatives: [`svc au submit tokens.csv ${CYCLE} --only-new`, `svc au submit tokens.csv ${CYCLE} --also`],
    });
    await desk.svc(`au abandon ${desk.run} --yes`);
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --only-new`)).toMatchObject({ code: 0 });
    expect(rowsOfOthers(desk, desk.run)).toEqual(expect.arrayContaining(ROWS.slice(3, 6)));
  });

  it('R79: au sync and au resume do not finish a run where another one has what is left', async () => {
    const desk = await submittedDesk();
    desk.change(desk.run, ({ parts }) => {
      for (const part of parts) {
        part.state = 'planned';
        part.earlier_jobs = [{ job: part.job ?? '', ended: 'failed' }];
        delete part.job;
      }
    });
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(await desk.svc(`au submit more.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    const { code, stderr } = await desk.svc('au sync');
    expect({ code, uploads: desk.uploads() }).toEqual({ code: 6, uploads: 2 });
    expect(stderr).toContain(
      `2 of the 6 rows that ${desk.run} has yet to upload were submitted in cycle 2026-12 meanwhile`,
    );
    expect(await desk.svc(`au resume ${desk.run}`)).toMatchObject({ code: 6 });
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --also`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(3);
  });

  it('R79: rows count while it is not known whether they were stored, and --only-new says so', async () => {
    const desk = await submittedDesk();
    desk.change(desk.run, ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'unknown', sent: 'all' });
    });
    write(desk, 'less.csv', ...ROWS.slice(0, 3));
    const nothing = await desk.svc(`au submit less.csv ${CYCLE} --only-new`);
    expect(errorIn(nothing)).toMatchObject({ exit_code: 9, next: `svc au status ${desk.run}` });
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    const { code, stderr } = await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    expect(code).toBe(0);
    expect(stderr).toContain(`it is not known whether the service has 2 rows of ${desk.run}, which are left out`);
  });

  it('R79: a run without a copy is compared by its file, and cannot be compared once that is gone', async () => {
    const desk = await submittedDesk();
    desk.removeCopy(desk.run);
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(errorIn(await desk.svc(`au submit more.csv ${CYCLE}`))).toMatchObject({ exit_code: 6, shared_rows: 2 });
    rmSync(desk.home.file('tokens.csv'));
    const refused = await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    expect(errorIn(refused)).toMatchObject({
      exit_code: 6,
      next: `svc au submit more.csv ${CYCLE} --also`,
      alternatives: [`svc au submit more.csv ${CYCLE} --again`],
    });
    expect(refused.stderr).toContain('cannot be compared with this file');
    expect(await desk.svc(`au submit more.csv ${CYCLE} --also`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('R79: a run whose record cannot be read is compared by the copy beside it', async () => {
    const desk = await submittedDesk();
    writeFileSync(desk.home.file(`.local/state/svc/runs/${desk.run}/run.json`), '{"version":1');
    write(desk, 'west.csv', ...ROWS.slice(6, 9));
    expect(await desk.svc(`au submit west.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    write(desk, 'more.csv', ...ROWS.slice(4, 6));
    const refused = await desk.svc(`au submit more.csv ${CYCLE} --only-new`);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('is damaged');
    expect(refused.stderr).toContain('--also');
    expect(desk.uploads()).toBe(2);
  });

  it('R79: the rows of an adopted run count in the cycle from then on', async () => {
    const desk = await openQuickDesk();
    write(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    expect(await desk.svc(`au submit tokens.csv ${CYCLE} --adopt ${run}`)).toMatchObject({ code: 0 });
    write(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(await desk.svc(`au submit more.csv ${CYCLE}`)).toMatchObject({ code: 6 });
    expect(desk.uploads()).toBe(1);
  });

  it('R79: runs of another tenant do not count, and nothing is submitted while it is not known whose they are', async () => {
    const machine = await openMachine();
    const theirs = { SVC_BASE_URL: (await machine.tenant(7)).url };
    const submit = `au submit more.csv ${CYCLE}`;
    writeFileSync(machine.path('work/more.csv'), request(...ROWS.slice(4, 9)));
    writeFileSync(machine.path('work/first.csv'), request(ROWS[9] ?? ''));
    expect(await machine.svc(`au submit tokens.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    const refused = await machine.svc(submit, theirs);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('--tenant <id>');
    // Once the tenant has a job, its list shows which tenant the key belongs to.
    expect(await machine.svc('au submit first.csv', theirs)).toMatchObject({ code: 0 });
    const submitted = await machine.svc(submit, theirs);
    expect(submitted.code, submitted.stderr).toBe(0);
    expect(submitted.stderr).not.toContain('also has');
    expect(machine.uploads()).toBe(3);
    expect(await machine.svc(`${submit} --only-new`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(3);
  });
});
