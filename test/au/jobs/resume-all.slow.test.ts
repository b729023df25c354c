import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { startSandbox } from '../../support/sandbox.ts';
import type { Home } from '../../support/svc.ts';
import { type Desk, openDesk } from '../commands/support.ts';
import { forgetJobs } from '../recorded-run.ts';

let desk: Desk;
let home: Home;

beforeEach(async () => {
  desk = await openDesk();
  ({ home } = desk);
});

const RUNS = '.local/state/svc/runs';
/** A request file with other rows than the example. */
const MORE = `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`;

describe('svc au resume', () => {
  it('svc au resume advances every open run, and two rounds at once do not disturb each other', async () => {
    writeFileSync(home.file('more.csv'), MORE);
    await desk.svc('au submit tokens.csv');
    await desk.svc('au submit more.csv');
    const line = 'au resume';
    const both = await Promise.all([desk.svc(line), desk.svc(line)]);
    expect(both.some(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(await desk.svc(line)).toMatchObject({ code: 0 });
    expect(existsSync(home.file('tokens.results.csv')) && existsSync(home.file('more.results.csv'))).toBe(true);
    expect(desk.uploads()).toBe(2);
  });

  it('svc au resume keeps results with the run where their place is taken, and overwrites nothing', async () => {
    await desk.svc('au submit tokens.csv');
    writeFileSync(home.file('tokens.results.csv'), 'mine');
    const { code, stderr } = await desk.svc('au resume');
    expect({ code, mine: readFileSync(home.file('tokens.results.csv'), 'utf8') }).toEqual({ code: 0, mine: 'mine' });
    expect(stderr).toContain('its results are kept in');
    expect(stderr).toMatch(/svc au download run-\S+ --out <file>/);
    expect(existsSync(home.file(join(RUNS, desk.runIds()[0] ?? '', 'results.csv')))).toBe(true);
  });

  it('svc au resume does not submit again by itself what failed', async () => {
    await desk.svc('au submit tokens.csv');
    desk.change(desk.runIds()[0] ?? '', ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'failed', errors: ['made up'] });
    });
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
    // The service reports that the job did not fail after all, so the run continues.
    expect(await desk.svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('svc au resume says why a run that lost the copy of its file cannot go on, and continues with the others', async () => {
    await desk.svc('au submit tokens.csv');
    writeFileSync(home.file('more.csv'), MORE);
    await desk.svc('au submit more.csv');
    const stuck = desk.runIds().find((id) => desk.record(id).input.name === 'more.csv') ?? '';
    desk.change(stuck, forgetJobs);
    renameSync(home.file('more.csv'), home.file('moved.csv'));
    desk.removeCopy(stuck);
    const { code, stderr } = await desk.svc('au resume');
    expect(code).toBe(1);
    expect(stderr).toContain('has parts to upload, and no copy of its request file');
    expect(existsSync(home.file('tokens.results.csv'))).toBe(true);
    // With the file under its new name, the run goes on.
    expect(await desk.svc('au submit moved.csv')).toMatchObject({ code: 0 });
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
  });
});

describe('a place for the results, given at the start', () => {
  it('a place for the results, given at the start is where they go when they are brought later', async () => {
    expect(await desk.svc('au submit tokens.csv --out later.csv')).toMatchObject({ code: 0 });
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('later.csv'), 'utf8')).toMatch(/^token,/);
  });

  it('a place for the results, given at the start is refused at the start when something is there already', async () => {
    const { code, stderr } = await desk.svc('au submit tokens.csv --out tokens.csv');
    expect(code).not.toBe(0);
    expect(stderr).toContain('tokens.csv');
    expect(desk.uploads()).toBe(0);
  });
});

describe('the end of the time', () => {
  it('R43: exit code 11 and the command that continues, which then does', async () => {
    const clock = new FakeClock({ start: Date.now(), auto: false });
    const slow = await startSandbox({ directory: home.file('later'), clock, processingMs: 3_600_000 });
    const env = { ...desk.env, SVC_BASE_URL: slow.url };
    mkdirSync(home.file('place'));
    await home.svc(['au', 'submit', 'tokens.csv', '--out', 'place/r.csv'], { env });
    const first = await home.svc(['au', 'resume', desk.runIds()[0] ?? '', '--wait', '--timeout', '3s'], { env });
    expect(first.code, first.stderr).toBe(11);
    const command = /svc (au resume [\w-]+ --wait)/.exec(first.stderr)?.[1] ?? '';
    await clock.advance(2 * 3_600_000);
    expect(await home.svc(command.split(' '), { env })).toMatchObject({ code: 0 });
    expect(existsSync(home.file('place/r.csv'))).toBe(true);
    await slow.close();
  });
});
