import { describe, expect, it } from 'vitest';
import { shellFor } from '../../../src/cli/app/shell.ts';

const windows = { platform: 'win32', env: {} } as const;
const { word } = shellFor(windows);
const set = (system: Parameters<typeof shellFor>[0]): string => shellFor(system).setVariable('A', 'x y');

/** Splits a command line that cmd passes on, and that has no single quotes, as the C runtime of Windows does. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replace(/(\\+)$/, (all) => all.slice(all.length / 2)),
  );
}

describe('a word of a command on Windows', () => {
  it.each(['au', '-o', '--fields', '-', 'C:\\data\\r.csv', '\\\\server\\share\\a', './a.csv', '2026-01-01T10:00:00Z'])(
    'a word of a command on Windows stays as it is where no shell does anything to it: %s',
    (text) => expect(word(text)).toBe(text),
  );

  it.each(['a,b', '@file', '--start=a.b', 'job 1', '', '(x)', 'a;b', 'a&b', '{x}', '~', "it's", 'C:\\my files\\'])(
    'a word of a command on Windows is quoted so that cmd and PowerShell both take it as one: %s',
    (text) => {
      expect(word(text)).toMatch(/^".*"$/);
      expect(wordsOf(word(text))).toEqual([text]);
    },
  );

  it.each([
    ['$HOME', "'$HOME'"],
    ['say "it\'s"', "'say \"it''s\"'"],
    ['a`b’c', "'a`b’’c'"],
    ['“a”', "'“a”'"],
  ])('a word of a command on Windows is quoted for PowerShell where it alone can be: %s', (text, quoted) => {
    expect(word(text)).toBe(quoted);
  });
});

describe('the shell', () => {
  it('the shell is PowerShell on Windows, and a POSIX shell where SHELL names one and everywhere else', () => {
    expect(set(windows)).toBe("$env:A = 'x y'");
    expect(set({ platform: 'win32', env: { SHELL: '/usr/bin/bash.exe' } })).toBe("export A='x y'");
    expect(set({ platform: 'darwin', env: {} })).toBe("export A='x y'");
  });
});
