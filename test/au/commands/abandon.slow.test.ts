import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { forgetJobs } from '../recorded-run.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

// Each test starts several processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Creates a run whose only part still has to be uploaded, and whose input file is gone. */
async function stuckRun(desk: QuickDesk): Promise<string> {
  await desk.svc('au submit tokens.csv');
  const [run = ''] = desk.runIds();
  desk.change(run, forgetJobs);
  // The ledger must not know the job that the run had.
  rmSync(desk.home.file('.local/state/svc/ledger'), { recursive: true });
  rmSync(desk.home.file('tokens.csv'));
  desk.removeCopy(run);
  return run;
}

describe('svc au abandon', () => {
  it('R58: svc au abandon with a job frees its rows only when it is confirmed, and the next submission sends them', async () => {
    const { faults } = readFaults('500@PUT /store/requests/*:#1');
    const desk = await openQuickDesk({ intercept: faultInterceptor(faults) });
    const unclear = await desk.svc('au submit tokens.csv');
    expect(unclear.code, unclear.stderr).toBe(9);
    const job = desk.record(desk.runIds()[0] ?? '').parts[0]?.job;
    expect(await desk.svc(`au abandon ${job}`)).toMatchObject({ code: 2 });
    expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 9 });
    const freed = await desk.svc(`au abandon ${job} --yes`);
    expect(freed.code, freed.stderr).toBe(0);
    expect(freed.stderr).toContain('may have been paid for: the service says that it is pending');
    const again = await desk.svc('au submit tokens.csv');
    expect(again.code, again.stderr).toBe(0);
    expect(desk.uploads()).toBe(1);
  });

  it('svc au abandon lets au resume succeed again, until the run is named', async () => {
    const desk = await openQuickDesk();
    const run = await stuckRun(desk);
    const stuck = await desk.svc('au resume');
    expect(stuck.code).toBe(1);
    expect(stuck.stderr).toContain(`svc au abandon ${run}`);
    const { code, stdout, stderr } = await desk.svc(`au abandon ${run} --yes`);
    expect({ code, status: (JSON.parse(stdout) as { status: string }).status }).toEqual({
      code: 0,
      status: 'abandoned',
    });
    expect(stderr).toContain('not uploaded, so neither processed nor paid for: ');
    expect(stderr).not.toContain('au download');
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
    expect((await desk.svc(`au abandon ${run}`)).stderr).toContain('is abandoned already');
    expect(await desk.svc(`au resume ${run}`)).toMatchObject({ code: 1 });
  });

  it('R36: svc au abandon does not let the same file be uploaded and paid for again unasked', async () => {
    const desk = await openQuickDesk({ processingMs: 60_000 });
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    const abandoned = await desk.svc(`au abandon ${run} --yes`);
    expect(abandoned.stderr).toMatch(/uploaded, or may have been: \d+ of \d+ rows \(1 job\); .* they may be paid for/);
    for (const line of ['au submit tokens.csv', 'au submit tokens.csv --dry-run']) {
      const refused = await desk.svc(line);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(`svc au resume ${run}`);
    }
    expect(desk.uploads()).toBe(1);
    expect(await desk.svc('au submit tokens.csv --cycle other --pay-again')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('svc au abandon leaves the results to be downloaded, without those of parts that were never uploaded', async () => {
    const desk = await openQuickDesk();
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    desk.change(run, ({ parts }) => {
      const [first] = parts;
      if (!first) throw new Error('there is no part');
      const rows = first.first_row + first.rows;
      const { job: _, ...rest } = first;
      parts.push({ ...rest, number: 2, first_row: rows, rows: 3, state: 'planned' });
    });
    await desk.svc(`au abandon ${run} --yes`);
    const { code, stderr } = await desk.svc(`au download ${run} --out r.csv`);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/abandoned: the results do not include rows \d+ to \d+/);
    expect(readFileSync(desk.home.file('r.csv'), 'utf8')).toContain('UPD_PAN');
  });

  it('R36: svc au abandon downloads results of an upload that was cut off, once the job says that it has the file', async () => {
    const desk = await openQuickDesk();
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    desk.change(run, ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'uploading', sent: 'all' });
    });
    expect((await desk.svc(`au abandon ${run} --yes`)).stderr).toContain(`svc au download ${run}`);
    expect(await desk.svc(`au download ${run} --out r.csv`)).toMatchObject({ code: 0 });
    expect(existsSync(desk.home.file('r.csv'))).toBe(true);
    expect(desk.uploads()).toBe(1);
  });

  it('svc au abandon says that a run that was never uploaded has no results, and that others are not done', async () => {
    const desk = await openQuickDesk({ processingMs: 60_000 });
    const run = await stuckRun(desk);
    await desk.svc(`au abandon ${run} --yes`);
    const nothing = await desk.svc(`au download ${run} --out r.csv`);
    expect(nothing.code).toBe(5);
    expect(nothing.stderr).toContain('before any part of it had results');
    writeFileSync(desk.home.file('tokens.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,,,\n`);
    await desk.svc('au submit tokens.csv --pay-again');
    const open = desk.runIds().find((each) => each !== run) ?? '';
    await desk.svc(`au abandon ${open} --yes`);
    expect(await desk.svc(`au download ${open} --out r.csv`)).toMatchObject({ code: 11 });
    expect(existsSync(desk.home.file('r.csv'))).toBe(false);
  });

  it.each([
    ['a job', '5f0c', 5],
    ['a run that is not recorded', 'run-20260101-00000000-0000', 5],
  ])('svc au abandon knows %s from a run', async (_, name, code) => {
    const desk = await openQuickDesk();
    expect(await desk.svc(`au abandon ${name} --yes`)).toMatchObject({ code });
  });

  it('svc au abandon leaves a complete run alone', async () => {
    const desk = await openQuickDesk();
    await desk.svc('au submit tokens.csv --wait');
    const { code, stderr } = await desk.svc(`au abandon ${desk.runIds()[0]} --yes`);
    expect(code).toBe(6);
    expect(stderr).toContain('is complete');
  });

  it('R54: svc au abandon asks, takes no for an answer, and without a terminal names --yes', async () => {
    const desk = await openQuickDesk();
    const run = await stuckRun(desk);
    const refused = await desk.svc(`au abandon ${run}`);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Pass --yes.');
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'au', 'abandon', run], {
      cwd: desk.home.path,
      env: desk.home.environment(desk.env),
      columns: 120,
    });
    await session.waitFor('[y/N]');
    session.type('n\r');
    expect((await session.exited).exitCode).toBe(2);
    expect(session.screen()).toContain('nothing was changed');
    expect(desk.record(run).abandoned_at).toBeUndefined();
  });
});

describe('svc au resume with a part that cannot go on', () => {
  it('svc au resume with a part that cannot go on brings the results of the other parts, which may not be there forever', async () => {
    const desk = await openQuickDesk();
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    desk.change(run, ({ parts }) => {
      const [first] = parts;
      if (first) parts.push({ ...first, job: undefined, number: 2, state: 'planned' });
    });
    rmSync(desk.home.file('tokens.csv'));
    desk.removeCopy(run);
    expect(await desk.svc('au resume')).toMatchObject({ code: 1 });
    expect(desk.record(run).parts.map(({ state }) => state)).toEqual(['downloaded', 'planned']);
  });
});
