import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Home, LAUNCHER } from '../support/svc.ts';
import { TerminalSession } from '../support/terminal.ts';

const home = new Home();

beforeAll(async () => {
  const tokens = fileURLToPath(new URL('../../src/sandbox/data/tokens.csv', import.meta.url));
  await cp(tokens, home.file('tokens.csv'));
});

afterAll(() => home.remove());

async function seen(line: string, env: Readonly<Record<string, string>>, ...more: string[]): Promise<string> {
  const run = new TerminalSession(process.execPath, [LAUNCHER, '--sandbox', ...line.split(' '), ...more], {
    cwd: home.path,
    env: home.environment(env),
  });
  expect((await run.exited).exitCode).toBe(0);
  return run.raw.replaceAll('\r\n', '\n');
}

it('--plain gives the progress of a submission in words and numbers: no color, no drawing, nothing repainted', async () => {
  const text = await seen('au submit tokens.csv --wait --out results.csv', {}, '--plain');
  expect(text.trim()).not.toBe('');
  expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  expect(text).not.toMatch(/#{2}|\.{4}|[|]{2}/);
});

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
