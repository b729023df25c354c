import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { nextCommand, shellFor, withHint } from '../../../src/cli/app/hint.ts';

const CARD = '4111-1111-1111-1111';
const windows = { platform: 'win32', env: {} } as const;
const { word } = shellFor(windows);
const set = (system: Parameters<typeof shellFor>[0]): string => shellFor(system).setVariable('A', 'x y');

/** Splits a command line that cmd passes on, and that has no single quotes, as the C runtime of Windows does. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replace(/(\\+)$/, (all) => all.slice(all.length / 2)),
  );
}

describe('a message and its hint', () => {
  it.each(['not found', 'not found.'])('a message and its hint are two sentences: %s', (message) => {
    expect(withHint(new SvcError('not_found', message, { hint: 'Check the id.' }))).toBe('not found. Check the id.');
  });
});

describe('the next command', () => {
  const globals = { sandbox: false, profile: undefined, baseUrl: undefined };

  it.each([
    [['au', 'resume', 'job 1', '--wait'], {}, "svc au resume 'job 1' --wait"],
    [['au', 'resume', '1', '--wait'], { sandbox: true }, 'svc --sandbox au resume 1 --wait'],
    [['au', 'resume', '1', '--wait'], { profile: 'p' }, 'svc --profile p au resume 1 --wait'],
    [['login'], { profile: 'p' }, 'svc --profile p login'],
    [['login'], { sandbox: true }, 'svc login'],
    [['login', '--profile', '<name>'], { profile: 'p' }, 'svc login --profile <name>'],
    [['sandbox', 'start'], { profile: 'p' }, 'svc sandbox start'],
    [['au', 'submit', `${CARD}.csv`, '--wait'], {}, 'svc au submit <file> --wait'],
    [['logs', 'list', '--jq', `."${CARD}"`], {}, 'svc logs list --jq <jq>'],
    [['logs', 'list', `--jq=-."${CARD}"`], {}, 'svc logs list --jq=<jq>'],
  ])('%o is written out with the service that was named: %o', (words, named, line) => {
    expect(nextCommand(words, { ...globals, ...named }, { platform: 'linux', env: {} })).toBe(line);
  });
});

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

  it('the shell gets the next command in words that it takes', () => {
    const globals = { sandbox: false, profile: 'prod', baseUrl: undefined };
    const words = ['au', 'results', '<job>', '--out', 'C:\\my files\\r.csv'];
    expect(nextCommand(words, globals, windows)).toBe(
      'svc --profile prod au results <job> --out "C:\\my files\\r.csv"',
    );
    expect(nextCommand(words, globals, { platform: 'linux', env: {} })).toBe(
      String.raw`svc --profile prod au results <job> --out 'C:\my files\r.csv'`,
    );
    const linux = { platform: 'linux', env: {} } as const;
    expect(nextCommand(['logs', '--grep', '=ls', '--by=id'], { ...globals, profile: undefined }, linux)).toBe(
      "svc logs --grep '=ls' --by=id",
    );
  });

  it('R05: the next command has a placeholder for a profile or an address that cannot be one, as a pasted key', () => {
    const plain = { platform: 'linux', env: {} } as const;
    const pasted = { sandbox: false, profile: 'key7=secret', baseUrl: 'key_prod_7Qx41' };
    expect(nextCommand(['logs'], pasted, plain)).toBe('svc --profile <name> --base-url <url> logs');
    for (const baseUrl of [
      'https://user:pw@api.example.com',
      'https://api.example.com/?key=secret',
      'https://a.b/#key',
    ])
      expect(nextCommand(['logs'], { ...pasted, profile: undefined, baseUrl }, plain)).toBe(
        'svc --base-url <url> logs',
      );
    const named = { sandbox: false, profile: 'sandbox', baseUrl: 'https://api.example.com' };
    expect(nextCommand(['logs'], named, plain)).toBe('svc --profile sandbox --base-url https://api.example.com logs');
  });
});
