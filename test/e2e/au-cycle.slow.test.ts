import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { openDesk } from '../au/commands/support.ts';
import { CHROMIUM, launchChromium } from '../browser/chromium.ts';
import { type Finished, Home } from '../support/svc.ts';
import { sharedLedger } from '../au/ledger/shared-ledger.ts';
import { succeeded } from '../support/run-here.ts';

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
  const { stdout } = succeeded(await run);
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
    const again = await data<{ rows: number; status: string }>(
      svc('au submit next.csv --wait --cycle next --pay-again'),
    );
    expect(again).toMatchObject({ rows: next.rows, status: 'completed' });
    const second = await data<Report>(svc('au report next.results.csv --request next.csv'));
    expect(second.request).toMatchObject({ rows: next.rows, not_requested: 0 });
  });

  it.skipIf(CHROMIUM === undefined)(
    'a whole cycle of the Account Updater on the embedded sandbox charts its results in a page that Chromium shows without a complaint (skipped where there is none)',
    async () => {
      const home = new Home();
      const svc = atSandbox(home);
      writeFileSync(home.file('tokens.csv'), (await svc('sandbox cards --request')).stdout);
      await data(svc('au submit tokens.csv --wait --out results.csv'));
      const { codes, groups } = await data<Report>(svc('au report results.csv --html report.html'));
      const { told, complaints } = await chartOf(home.file('report.html'));
      expect(told?.match(/: (\d+) \(/g)).toEqual(
        Object.values(groups).flatMap((count) => (count === 0 ? [] : [`: ${count} (`])),
      );
      expect(codes.length).toBeGreaterThan(10);
      expect(complaints).toEqual([]);
    },
  );
});

describe('a file that one machine began to submit', () => {
  it('R79 and R84: a file that one machine began to submit is finished on another that shares its ledger: what was sent is waited for, the rest is sent, once', async () => {
    const desk = await openDesk();
    const other = new Home();
    const [header = '', ...rows] = exampleRequestFile().trimEnd().split('\n');
    const begun = rows.slice(0, 10);
    writeFileSync(desk.home.file('tokens.csv'), `${[header, ...begun].join('\n')}\n`);
    writeFileSync(other.file('tokens.csv'), `${[header, ...rows].join('\n')}\n`);
    const shared = sharedLedger(other.file('ledger'));
    succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12', shared));
    rmSync(desk.home.path, { recursive: true });

    const line = 'au submit tokens.csv --cycle 2026-12 --wait -o json'.split(' ');
    const finished = succeeded(await other.svc(line, { env: { ...desk.env, ...shared } }));
    expect(finished.stderr).toMatch(/10 of \d+ rows of tokens\.csv/);
    expect(JSON.parse(finished.stdout)).toMatchObject({ rows: rows.length, status: 'completed' });
    const lines = desk.received().map((file) => file.trimEnd().split('\n').slice(1));
    expect(lines.toSorted((one, two) => one.length - two.length)).toEqual([begun, rows.slice(10)]);
    succeeded(await other.svc(line, { env: { ...desk.env, ...shared } }));
    expect(desk.uploads()).toBe(2);
    const tokens = linesOf(other, 'tokens.results.csv').map((row) => row.split(',', 1)[0]);
    const requested = rows.map((row) => row.split(',', 1)[0]);
    expect(tokens).toEqual(requested.filter((token) => tokens.includes(token)));
  });
});
