import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { main } from '../../../src/main.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';
import { Screen } from '../../support/screen.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { HEADER } from '../rows.ts';

/** A standard error that is a terminal with a movable cursor. */
class LiveScreen extends Screen {
  clearLine(direction: -1 | 0 | 1): boolean {
    return clearLine(this, direction);
  }

  cursorTo(column: number): boolean {
    return cursorTo(this, column);
  }

  moveCursor(columns: number, rows: number): boolean {
    return moveCursor(this, columns, rows);
  }
}

// Enough to read that the line is painted meanwhile, however busy the machine is.
const ROWS = 50_000;

/** A directory with a large request, and results in which each tenth row of it has a new token. */
function place(): string {
  const directory = temporaryDirectory();
  const tokens = Array.from({ length: ROWS }, (_, at) => `token-of-the-card-in-row-${at}`);
  const request = tokens.map((token) => `${token},30,01,\n`).join('');
  const results = tokens.flatMap((token, at) => (at % 10 === 0 ? [`${token},30,01,${token}-new,31,02,UPD_PAN\n`] : []));
  writeFileSync(join(directory, 'q.csv'), `token,expiration_year,expiration_month,merchant_id\n${request}`);
  const header =
    'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code';
  writeFileSync(join(directory, 'r.csv'), `${header}\n${results.join('')}`);
  return directory;
}

async function onTerminal(argv: readonly string[], cwd: string): Promise<string> {
  const stderr = new LiveScreen();
  const code = await main(argv, {
    env: { HOME: cwd, LANG: 'C.UTF-8' },
    platform: 'linux',
    home: cwd,
    cwd,
    pid: process.pid,
    nodeVersion: process.versions.node,
    stdin: Readable.from([]),
    stdout: new Screen(),
    stderr,
    clock: new FakeClock(),
    signal: new AbortController().signal,
    isAlive: () => true,
  });
  expect(code, stderr.text).toBe(0);
  return stderr.text;
}

describe('the progress of reading', () => {
  it('R19: svc au report ends with the command at each piece of its request, each time it is read', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'r.csv'), 'token,result_code\ntoken-1,UPD_PAN\ntoken-0,UPD_PAN\n');
    const checks = async (pieces: number): Promise<number> => {
      const rows = Array.from({ length: pieces * 2 ** 13 }, (_, at) => `${`token-${at}`.padEnd(24, 'x')},30,01,\n`);
      writeFileSync(join(cwd, 'q.csv'), `${HEADER}\ntoken-0,30,01,\ntoken-1,30,01,\n${rows.join('')}`);
      const checking = vi.spyOn(AbortSignal.prototype, 'throwIfAborted');
      succeeded(await svcHere(['au', 'report', 'r.csv', '--request', 'q.csv'], { cwd, home: cwd }));
      const { length } = checking.mock.calls;
      checking.mockRestore();
      return length;
    };
    // It is checked, with two looks, compared in the order of the results, and compared by token.
    expect((await checks(5)) - (await checks(1))).toBe(4 * 4);
  });

  it.each([
    ['report', ['au', 'report', 'r.csv', '--request', 'q.csv']],
    ['next', ['au', 'next', 'q.csv', 'r.csv', '--out', 'n.csv', '--force']],
  ])('the progress of au %s is a line on a terminal, and nothing in a pipe', async (name, typed) => {
    const cwd = place();
    const argv = typed.map((word) => (/^[qrn]\.csv$/.test(word) ? join(cwd, word) : word));
    // The first run loads what paints the line.
    await onTerminal(argv, cwd);
    expect(await onTerminal(argv, cwd)).toContain(` ${name}`);
    ended(await svcHere(argv, { cwd }), 0, { unsaid: `${name}:` });
  });
});
