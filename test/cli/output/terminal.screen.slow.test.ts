import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TerminalSession, bundleProgram, type Bundle, type TerminalRun } from '../../support/terminal.ts';

const NAMES = ['list', 'hostile', 'progress', 'questions'] as const;
const bundles = new Map<string, Bundle>();

beforeAll(async () => {
  for (const name of NAMES)
    bundles.set(name, await bundleProgram(fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url))));
});

afterAll(() => {
  for (const bundle of bundles.values()) bundle.remove();
});

function start(name: (typeof NAMES)[number], args: readonly string[] = [], run: TerminalRun = {}): TerminalSession {
  return new TerminalSession(process.execPath, [bundles.get(name)?.path ?? '', ...args], run);
}

describe('hostile text', () => {
  it('R49: hostile text reaches the screen as visible escapes only, from tables, notices, spinners, questions and errors', async () => {
    const session = start('hostile', [], { columns: 120, rows: 60 });
    await session.waitFor('[y/N]');
    session.type('y\r');
    expect((await session.exited).exitCode).toBe(6);
    const screen = await session.waitFor('request id:');
    // The first line is still there: nothing cleared the screen or moved over it.
    expect(screen).toMatch(/^text +evil\\x1b\[2J/);
    expect(screen).toContain(String.raw`warning: evil\x1b[2J`);
    expect(screen).toContain(String.raw`error: evil\x1b[2J`);
    for (const escape of ['\u001b]', '\u001b[2J', '\u001b[1;1H', '\u009b', '\u202e', '\u200b', '\u0007'])
      expect(session.raw).not.toContain(escape);
    expect(session.raw).not.toContain('canary-secret');
  });
});

describe('progress on a real terminal', () => {
  it('R53: progress on a real terminal leaves clean lines and a visible cursor after Ctrl-C', async () => {
    // Ctrl-C drops output that is on its way to the terminal, so that a frame can follow the last one on its line: it has
    // room for both.
    const session = start('progress', [], { columns: 120 });
    await session.waitFor('of 30.0 MB');
    expect(session.cursorShows).toBe(false);
    await session.waitFor('data in between');
    await session.waitFor(/next poll in \d+s/);
    session.type('\u0003');
    expect((await session.exited).exitCode).toBe(130);
    expect(session.cursorShows).toBe(true);
    expect(session.screen().split('\n')).toEqual([
      expect.stringMatching(/^✓ upload tokens\.csv: 30\.0 MB in \d+s$/),
      'a note in between',
      'data in between',
      'interrupted',
    ]);
  });

  it('progress on a real terminal writes no escape to a dumb terminal', async () => {
    const session = start('progress', [], { env: { TERM: 'dumb' } });
    await session.waitFor('data in between');
    session.type('\u0003');
    await session.exited;
    expect(session.raw).not.toContain('\u001b');
  });
});

describe('questions on a real terminal', () => {
  it('questions on a real terminal hide a secret and take text and a confirmation', async () => {
    const session = start('questions');
    await session.waitFor('Private key:');
    session.type('s3cretX\u007f\r');
    await session.waitFor('Tenant name:');
    session.type('Acme\r');
    await session.waitFor('[y/N]');
    session.type('YES\r');
    expect((await session.exited).exitCode).toBe(0);
    expect(session.screen()).toContain('{"length":6,"reversed":"terc3s","name":"Acme"}');
    expect(session.raw).not.toContain('s3cret');
  });

  it('R53: questions on a real terminal end with the code of an interrupt on Ctrl-C', async () => {
    const session = start('questions');
    await session.waitFor('Private key:');
    session.type('abc\u0003');
    expect((await session.exited).exitCode).toBe(130);
    expect(session.screen().split('\n').at(-1)).toBe('interrupted');
  });

  it('questions on a real terminal end when the input ends', async () => {
    const session = start('questions');
    await session.waitFor('Private key:');
    session.type('\u0004');
    expect((await session.exited).exitCode).toBe(2);
    expect(session.screen()).toContain('the input ended without an answer');
  });

  it('R54: questions on a real terminal are not asked in CI', async () => {
    const session = start('questions', [], { env: { CI: '1' } });
    expect((await session.exited).exitCode).toBe(2);
    expect(session.screen()).toContain('hint: Pass --private-key-stdin');
  });
});

describe('a table on a real terminal', () => {
  for (const columns of [40, 80, 200])
    it(`R50: a table on a real terminal takes one line a row on ${columns} columns`, async () => {
      const session = start('list', ['100', 'table'], { columns, rows: 10 });
      await session.exited;
      const lines = (await session.waitFor('read 100')).split('\n');
      expect(lines).toHaveLength(102);
      expect(lines[100]).toMatch(/^row-99 +x+…?$/);
    });
});
