import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const CYCLE = 'refresh/2026-12';
const FIRST = ROWS.slice(0, 20);
const SECOND = ROWS.slice(10);
const fileOf = (rows: readonly string[]): string => `${[HEADER, ...rows].join('\n')}\n`;
const keepOf = (rows: readonly string[]): string =>
  `row,token,customer\n${rows.map((row, at) => `${at + 1},${row.slice(0, 36)},C-${ROWS.indexOf(row)}\n`).join('')}`;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A directory as a build before the first release left it: with a request for each of two exports, the last of them open. */
async function openEarlier() {
  const desk = await openQuickDesk({ tenants: ['production'], processingMs: 60_000 });
  const file = (name: string): string => desk.home.file(`${CYCLE}/${name}`);
  mkdirSync(file(''), { recursive: true });
  const requests = [FIRST, SECOND].map((rows, at) => {
    const name = `request${at === 0 ? '' : '-2'}`;
    writeFileSync(file(`${name}.csv`), fileOf(rows));
    writeFileSync(file(`${name}.keep.csv`), keepOf(rows));
    return {
      export: `export-${at}.csv`,
      export_sha256: hashOf(`export ${at}`),
      options: ['--keep', 'customer'],
      request_sha256: hashOf(fileOf(rows)),
      rows: rows.length,
      excluded_tokens: 3,
      excluded_at: '2026-11-01T00:00:00.000Z',
      run: `run-${at}`,
    };
  });
  for (const name of ['request.csv', 'request-2.csv'])
    expect((await desk.svc(`au submit ${CYCLE}/${name} --cycle 2026-12`)).code).toBe(0);
  const own = ['request.keep.csv', 'request-2.keep.csv'];
  writeFileSync(file('refresh.json'), JSON.stringify({ version: 2, cycle: '2026-12', requests, files: {}, own }));
  const tenant = desk.sandbox.tenants[0]?.id;
  writeFileSync(desk.home.file('refresh/tenant.json'), JSON.stringify({ version: 1, tenant }));
  return { desk, file, read: (name: string): string => readFileSync(file(name), 'utf8') };
}

it('the requests of a cycle that an earlier build began become one request, and no row is sent again', async () => {
  const { desk, file, read } = await openEarlier();
  const line = 'au refresh --fail-on err=100%';
  ended(await desk.svc(`${line} --no-wait`), 11, 'which nothing reads any more: request-2.csv, request-2.keep.csv');
  expect(read('request.csv')).toBe(fileOf(ROWS));
  expect(read('request.keep.csv')).toBe(keepOf(ROWS));
  await desk.clock.advance(120_000);
  ended(await desk.svc(`${line} --exclusions none`), 0, {
    row: { cycle: '2026-12', status: 'completed', rows: ROWS.length },
    unsaid: 'request-2.csv',
  });
  const [head = '', ...replaced] = read('todo/replace.csv').trimEnd().split('\n');
  expect(head.split(',').slice(0, 2)).toEqual(['customer', 'token']);
  for (const row of replaced) {
    const [customer, token = ''] = row.split(',');
    expect(customer).toBe(`C-${ROWS.findIndex((each) => each.startsWith(token))}`);
  }
  const { version, exports } = JSON.parse(read('refresh.json')) as { version: number; exports: unknown[] };
  expect([version, exports]).toMatchObject([3, [{ name: 'export-0.csv' }, { name: 'export-1.csv' }]]);
  rmSync(file('request-2.csv'));
  ended(await desk.svc('au refresh --cycle 2026-12 --fail-on err=100%'), 0, { uploads: 2 });
});

it('a cycle that an earlier build began is left as it is where one of its request files is gone', async () => {
  const { desk, file, read } = await openEarlier();
  rmSync(file('request-2.csv'));
  const before = read('refresh.json');
  ended(await desk.svc('au refresh --cycle 2026-12'), 1, 'request-2.csv is not as it was prepared');
  expect([read('refresh.json'), read('request.csv'), desk.uploads()]).toEqual([before, fileOf(FIRST), 2]);
});
