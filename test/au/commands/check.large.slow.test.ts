import { readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
/** More than memory takes: each check of the file moves hashes to a private file. */
const ROWS = 1_150_000;

// A row whose token is no UUID takes ten times as long.
const row = (at: number): string => `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000,,,\n`;

it('R39, R41: svc au check of a file with more rows than memory takes names the last rows that repeat the first ones, and leaves no private file', async () => {
  const home = new Home();
  const rows = Array.from({ length: ROWS }, (_, at) => row(at));
  writeFileSync(home.file('large.csv'), [HEADER, ...rows, ...[0, ROWS - 1, ROWS / 2].map(row)].join(''));
  ended(
    await home.svc(['au', 'check', 'large.csv', '-o', 'json']),
    0,
    'line 1,150,002 (that of line 2), line 1,150,003 (that of line 1,150,001)',
    { row: { rows: ROWS + 3, repeated_tokens: 3, job_count: 4 } },
  );
  expect(readdirSync(home.file('.local/state/svc/spool'))).toEqual([]);
});

it.each([
  ['tokens of several merchants', (token: string, at: number) => `${token},,,M-${at % 2}\n`],
  ['repeated rows', (token: string) => `${token},,,\n`],
])('R51: svc au check of a file with %s says that the disk is full, and leaves no private file', async (_, rowOf) => {
  const home = new Home();
  const rows = Array.from({ length: 80 }, (_, at) => rowOf(`token-${Math.trunc(at / 2)}`, at));
  writeFileSync(home.file('tokens.csv'), `${HEADER}${rows.join('')}`);
  const under = ['sh', '-c', `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`];
  const { code, stderr } = ended(await home.svc(['au', 'check', 'tokens.csv'], { under }), 1);
  expect(stderr).toMatch(/could not be written.*EFBIG/s);
  expect({ code, files: readdirSync(home.file('.local/state/svc/spool')) }).toEqual({ code: 1, files: [] });
});
