import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDesk, openQuickDesk, type QuickDesk } from '../au/commands/support.ts';
import { CHROMIUM, launchChromium } from '../browser/chromium.ts';
import { type Finished, Home } from '../support/svc.ts';

/** The number of rows: one more than a job accepts. */
const ROWS = 300_001;

interface CodeCount {
  readonly code: string;
  readonly count: number;
}

interface Report {
  readonly rows: number;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  readonly groups: Readonly<Record<string, number>>;
  readonly codes: readonly CodeCount[];
  readonly request: { readonly rows: number; readonly unchanged: number; readonly not_requested: number };
  readonly split: readonly { readonly file: string; readonly rows: number }[];
}

/** Returns the data that a command printed; fails if the command failed. */
async function data<T>(run: Promise<Omit<Finished, 'signal'>>): Promise<T> {
  const { code, stdout, stderr } = await run;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

function linesOf(home: Home, file: string): string[] {
  return readFileSync(home.file(file), 'utf8').trimEnd().split('\n').slice(1);
}

/** Opens a page in Chromium, and returns the description of its chart, its console messages and its requests. */
async function chartOf(file: string): Promise<{ told: string | null; complaints: readonly string[] }> {
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const tab = await browser.newPage();
  const complaints: string[] = [];
  tab.on('console', (message) => complaints.push(message.text()));
  tab.on('request', (request) => complaints.push(request.url()));
  const address = pathToFileURL(file).href;
  await tab.goto(address);
  const told = await tab.getByRole('img', { name: 'Rows by what to do' }).locator('desc').textContent();
  return { told, complaints: complaints.filter((each) => each !== address) };
}

function atSandbox(home: Home): (line: string) => Promise<Finished> {
  return (line) => home.svc(['--sandbox', ...line.split(' ')]);
}

describe('a whole cycle of the Account Updater on the embedded sandbox', () => {
  it('R47: a whole cycle of the Account Updater on the embedded sandbox goes from the request to the results, the report, and the next request and its results', async () => {
    const home = new Home();
    onTestFinished(() => home.remove());
    const svc = atSandbox(home);
    writeFileSync(home.file('tokens.csv'), (await svc('sandbox cards --request')).stdout);
    const submitted = await data<{ rows: number; results: Record<string, number> }>(
      svc('au submit tokens.csv --wait --out results.csv'),
    );
    const report = await data<Report>(svc('au report results.csv --request tokens.csv --split-into todo'));
    const { updated, warned, errors, request, split } = report;
    expect(updated + warned + errors + request.unchanged).toBe(submitted.rows);
    expect(submitted.results).toMatchObject({ updated, warned, errors, unchanged: request.unchanged });
    expect(split.reduce((sum, { rows }) => sum + rows, 0)).toBe(report.rows);
    for (const { file, rows } of split) expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(rows + 1);
    const next = await data<{ rows: number; groups: Record<'replace' | 'exclude', number> }>(
      svc('au next tokens.csv results.csv --out next.csv --excluded excluded.csv --fail-on err=50%'),
    );
    expect(next.rows + next.groups.exclude).toBe(submitted.rows);
    expect([next.groups.replace, next.groups.exclude].every((count) => count > 0)).toBe(true);
    expect(linesOf(home, 'next.csv')).toHaveLength(next.rows);
    expect(linesOf(home, 'excluded.csv')).toHaveLength(next.groups.exclude);
    const again = await data<{ rows: number; status: string }>(svc('au submit next.csv --wait'));
    expect(again).toMatchObject({ rows: next.rows, status: 'completed' });
    const second = await data<Report>(svc('au report next.results.csv --request next.csv'));
    expect(second.request).toMatchObject({ rows: next.rows, not_requested: 0 });
  }, 60_000);

  it.skipIf(CHROMIUM === undefined)(
    'a whole cycle of the Account Updater on the embedded sandbox charts its results in a page that Chromium shows without a complaint (skipped where there is none)',
    async () => {
      const home = new Home();
      onTestFinished(() => home.remove());
      const svc = atSandbox(home);
      writeFileSync(home.file('tokens.csv'), (await svc('sandbox cards --request')).stdout);
      await data(svc('au submit tokens.csv --wait --out results.csv'));
      const { codes, groups } = await data<Report>(svc('au report results.csv --html report.html'));
      const { told, complaints } = await chartOf(home.file('report.html'));
      expect(told?.match(/: (\d+) \(/g)).toEqual(
        Object.values(groups).flatMap((count) => (count === 0 ? [] : [`: ${count} (`])),
      );
      expect(readFileSync(home.file('report.html'), 'utf8')).toMatch(/<p>Run run-\S+, tenant \S+<\/p>/);
      expect(codes.length).toBeGreaterThan(10);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});

function writeTwoParts({ home }: QuickDesk): void {
  const rows = Array.from({ length: ROWS }, (_, row) => `t${row},,,\n`).join('');
  writeFileSync(home.file('tokens.csv'), `token,expiration_year,expiration_month,merchant_id\n${rows}`);
}

describe('a file of several parts', () => {
  it('a file of several parts is brought to its results by rounds of au sync, whose --exec is told once', async () => {
    const desk = await openQuickDesk();
    writeTwoParts(desk);
    const submitted = await data<{ jobs: string[] }>(desk.svc('au submit tokens.csv'));
    expect(submitted.jobs).toHaveLength(2);
    const line = ['au', 'sync', '--exec', 'echo "$SVC_RUN_ID $SVC_RESULTS" >> told'];
    let code: number | null = 11;
    for (let round = 0; code === 11 && round < 20; round += 1) ({ code } = await desk.svc(line));
    expect(code).toBe(0);
    expect(await desk.svc(line)).toMatchObject({ code: 0 });
    const told = readFileSync(desk.home.file('told'), 'utf8');
    expect(told).toBe(`${desk.runIds()[0]} ${desk.home.file('tokens.results.csv')}\n`);
    // The sandbox does not know these tokens: each row has one result, in the order of the request.
    const rows = linesOf(desk.home, 'tokens.results.csv');
    expect(rows.map((row) => row.split(',', 1)[0])).toEqual(Array.from({ length: ROWS }, (_, row) => `t${row}`));
    expect(desk.uploads()).toBe(2);
  }, 120_000);
});

describe('a run that is carried to another machine', () => {
  it('R36: a run that is carried to another machine is gone on with there: waited for, and uploaded where it was not yet, once', async () => {
    const desk = await openDesk();
    await desk.svc('au submit tokens.csv --run-dir sent');
    await desk.svc('au submit tokens.csv --again --run-dir begun');
    desk.change('begun', ({ parts }) => {
      for (const part of parts) {
        part.state = 'planned';
        delete part.job;
      }
    });
    const other = new Home();
    onTestFinished(() => other.remove());
    mkdirSync(other.file('work'));
    for (const name of ['sent', 'begun', 'tokens.csv'])
      cpSync(desk.home.file(name), other.file(name), { recursive: true });
    rmSync(desk.home.path, { recursive: true });
    const there = (line: string): Promise<Finished> => other.svc(line.split(' '), { env: desk.env });

    const waited = await there('au wait sent');
    expect(waited.code, waited.stderr).toBe(0);
    expect(waited.stderr).toContain('the results go to tokens.results.csv in this directory');
    expect(existsSync(other.file('tokens.results.csv'))).toBe(true);
    const refused = await there('au wait begun --timeout 20s');
    expect(refused.code).toBe(2);
    const uploads = desk.uploads();
    const gone = await there('au submit tokens.csv --run-dir begun --wait --out more.csv');
    expect(gone.code, gone.stderr).toBe(0);
    expect(readFileSync(other.file('more.csv'), 'utf8')).toMatch(/^token,/);
    expect(desk.uploads()).toBe(uploads + 1);
    expect(await there('au download begun --out again.csv')).toMatchObject({ code: 0 });
  }, 60_000);
});
