import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/sandbox/vault/cards.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { allCommands } from '../support/tree.ts';

const place = mkdtempSync(join(tmpdir(), 'svc-no-keys-'));
writeFileSync(join(place, 'tokens.csv'), exampleRequestFile());
writeFileSync(join(place, 'body.json'), '{}');
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** What a command needs beside its words to come to its first request. */
const MORE: Readonly<Record<string, string>> = {
  'tenant update': '--name New --yes',
  'tenant delete': '--confirm x',
  '3ds create': '--token t --type customer',
  '3ds show': 's',
  '3ds authenticate': `s --file ${join(place, 'body.json')}`,
  '3ds challenge-result': 's',
  'au upload': `j ${join(place, 'tokens.csv')}`,
  'au submit': join(place, 'tokens.csv'),
  'au status': 'j',
  'au wait': 'j',
  'au download': `j --out ${join(place, 'out.csv')}`,
  'logs archive': join(place, 'archive'),
  api: 'GET /logs',
};

/** Asks nobody where there is nothing to ask about. */
const NOTHING_TO_DO = new Set(['au sync']);

const asking = (await allCommands())
  .filter(({ command }) => command.permissions !== undefined)
  .map(({ words }) => words)
  .filter((words) => !NOTHING_TO_DO.has(words));

describe('without keys', () => {
  it.each(
    asking.flatMap((name) => [
      { name, url: 'https://api.example' },
      { name, url: '' },
    ]),
  )('svc $name points to --sandbox and to svc login, with base URL "$url"', async ({ name, url }) => {
    const argv = `${name} ${MORE[name] ?? ''}`.trim().split(' ');
    const run = await svcHere(argv, { env: { SVC_BASE_URL: url } });
    expect(run.code, run.stderr).toBe(3);
    expect(run.stdout).toBe('');
    expect(errorIn(run)['hint']).toMatch(/svc login.*--sandbox/);
  });
});
