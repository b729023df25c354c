import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorIn, svcHere } from '../../../support/run-here.ts';

let cwd = '';

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-near-'));
  mkdirSync(join(cwd, 'requests'));
  for (const name of ['tokens.csv', 'results.csv', 'requests/one.csv', 'body.json', 'events.jsonl'])
    writeFileSync(join(cwd, name), '');
});

afterAll(() => rmSync(cwd, { recursive: true }));

async function failure(line: string) {
  return errorIn(await svcHere(line.split(' '), { cwd, env: { SVC_PROFILE: 'sandbox' } }));
}

describe('a file that cannot be read', () => {
  it.each([
    ['au submit tokens', 'svc au submit tokens.csv'],
    ['au submit tokenz.csv', 'svc au submit tokens.csv'],
    ['au submit tokens.cvs', 'svc au submit tokens.csv'],
    ['au check requests/on.csv', 'svc au check requests/one.csv'],
    ['au next tokens.csv resutls.csv', 'svc au next tokens.csv results.csv'],
    ['au report --request tokenz.csv results.csv', 'svc au report --request tokens.csv results.csv'],
    ['3ds validate bdy.json', 'svc 3ds validate body.json'],
    ['tenant diff body', 'svc tenant diff body.json'],
    ['events replay evnts.jsonl --forward-to http://127.0.0.1:9/', 'svc events replay events.jsonl --forward-to <url>'],
    ['au submit tokenz.csv --cycle 2026-11 --dry-run', 'svc au submit tokens.csv --cycle 2026-11 --dry-run'],
    ['tenant update --dry-run --file bdy.json', 'svc tenant update --dry-run --file body.json'],
  ])('svc %s names the file that was meant: %s', async (line, next) => {
    const { code, hint, next: shown } = await failure(line);
    expect([code, hint, shown]).toEqual(['local', expect.stringMatching(/^Did you mean '.*'\?$/), next]);
  });

  it('a directory is answered with a file in it, and an address with a pipe', async () => {
    expect(await failure(`au submit ${join(cwd, 'requests')}`)).toMatchObject({
      hint: 'Name a file in it:',
      next: `svc au submit ${join(cwd, 'requests/one.csv')}`,
    });
    const address = await failure('au submit https://files.example/tokens.csv?X-Amz-Signature=abcdef');
    expect(address['hint']).toBe('svc reads files: pipe the address into it, as in curl --fail … | svc au submit -');
    expect(JSON.stringify(address)).not.toContain('abcdef');
  });

  it('a file that is like none lists the files that the command reads', async () => {
    expect(await failure('au check nothing-like-it.csv')).toMatchObject({
      hint: 'Files there: results.csv, tokens.csv',
    });
  });

  it('a missing archive lists no files, since an archive is a directory', async () => {
    expect((await failure('logs verify archive'))['hint']).not.toContain('Files there');
  });
});

describe('a file that exists', () => {
  it('is replaced only with --force, which the error names', async () => {
    const line = `au report results.csv --request tokens.csv --html`;
    expect(await failure(`${line} body.json`)).toMatchObject({
      code: 'usage',
      hint: 'Give another name, or add --force to replace it.',
    });
  });
});
