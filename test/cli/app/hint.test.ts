import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { nextCommand, withHint } from '../../../src/cli/app/hint.ts';

const CARD = '4111-1111-1111-1111';
const windows = { platform: 'win32', env: {} } as const;

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

  it('the next command is in words that the shell takes', () => {
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
