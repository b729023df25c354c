import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitCodeOf } from '../support/command-lines.ts';
import { readSourceFiles } from '../support/source-file.ts';
import { Home, LAUNCHER } from '../support/svc.ts';
import { TerminalSession } from '../support/terminal.ts';

/** Every source file that draws, with command lines that show its drawings. */
const PICTURES: Readonly<Record<string, readonly string[]>> = {
  'tenant/commands/usage.ts': ['tenant usage'],
  'logs/report/report.ts': ['logs stats --since 2d', 'logs review audit --day 2020-01-01'],
  'au/results/report-view.ts': [
    'au submit tokens.csv --wait --out results.csv --force',
    'au report results.csv',
    'au report results.csv --request tokens.csv',
  ],
  'cli/output/progress.ts': ['au submit tokens.csv --wait --cycle another --pay-again --out again.csv --force'],
};

const home = new Home();

beforeAll(async () => {
  const tokens = fileURLToPath(new URL('../../src/sandbox/data/tokens.csv', import.meta.url));
  await cp(tokens, home.file('tokens.csv'));
  await home.svc(['--sandbox', 'au', 'submit', 'tokens.csv', '--wait', '--out', 'results.csv']);
  await home.svc(['--sandbox', 'logs', 'archive', 'audit', '--since', '1h']);
});

afterAll(() => home.remove());

async function seen(line: string, env: Readonly<Record<string, string>>, ...more: string[]): Promise<string> {
  const run = new TerminalSession(process.execPath, [LAUNCHER, '--sandbox', ...line.split(' '), ...more], {
    cwd: home.path,
    env: home.environment(env),
  });
  expect((await run.exited).exitCode).toBe(exitCodeOf(line));
  return run.raw.replaceAll('\r\n', '\n');
}

it.each(Object.values(PICTURES).flat())(
  '--plain gives svc %s in words and numbers: no color, no drawing, nothing repainted',
  async (line) => {
    const text = await seen(line, {}, '--plain');
    expect(text.trim()).not.toBe('');
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).not.toMatch(/#{2}|\.{4}|[|]{2}/);
  },
);

it('--plain has a value on each line, with its name, and an empty line between two entries', async () => {
  const entries = (await seen('logs -n 2 --entity-type token', {}, '--plain')).trimEnd().split('\n\n');
  expect(entries).toHaveLength(2);
  expect(entries.flatMap((entry) => entry.split('\n')).filter((line) => !/^\w[\w ]*: \S/.test(line))).toEqual([]);
});

it.each([{ SVC_PLAIN: '1' }, { TERM: 'dumb' }])('--plain is on with %o', async (env) => {
  expect(await seen('tenant show', env)).toMatch(/^name: Sandbox$/m);
});

it('--plain leaves machine formats as they are', async () => {
  const shown = await seen('tenant show -o json', {}, '--plain');
  expect(JSON.parse(shown)).toMatchObject({ type: 'test' });
});

it('--plain takes only the color away with NO_COLOR', async () => {
  const text = await seen('tenant usage', { NO_COLOR: '1' });
  expect(text).toContain('█');
  expect(text).not.toContain('\u001b[3');
});

it('--plain is looked at here for everything that is drawn', () => {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));
  const drawing = readSourceFiles(root)
    .map(({ path }) => path)
    .filter((path) => path !== 'cli/output/bars.ts')
    .filter((path) => /\bdraw(Bar|Gauge|Sparkline)\b/.test(readFileSync(`${root}${path}`, 'utf8')));
  const missing = drawing.filter((path) => !(path in PICTURES));
  expect(
    missing,
    'these files draw: pass `plain` on to what draws, and name a command line that shows it in PICTURES',
  ).toEqual([]);
});
