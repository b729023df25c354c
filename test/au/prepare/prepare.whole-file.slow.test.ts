import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { HEADER, type Row, merchantOf, place, placeText, right, rowsOf, uuid } from './whole-file.ts';

it.each([
  [
    'the last day',
    ({ yy, mm }: Row) => new Date(Date.UTC(2000 + Number(yy), Number(mm), 0)).toISOString().slice(0, 10),
    undefined,
  ],
  [
    'the last day, without leap years',
    ({ yy, mm }: Row) => `20${yy}-${mm}-${[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(mm) - 1]}`,
    undefined,
  ],
  ['the first day', ({ yy, mm }: Row) => `20${yy}-${mm}-01`, 'each on the first of its month'],
  ['the 15th', ({ yy, mm }: Row) => `20${yy}-${mm}-15`, 'each on day 15 of its month'],
  [
    'the beginning of the first day in UTC',
    ({ yy, mm }: Row) => `20${yy}-${mm}-01T00:00:00Z`,
    'each on the first of its month',
  ],
  [
    'the end of the last day in UTC',
    ({ yy, mm }: Row) => new Date(Date.UTC(2000 + Number(yy), Number(mm), 0, 23, 59, 59)).toISOString(),
    undefined,
  ],
  [
    'midnight in its own zone',
    ({ yy, mm }: Row) => `20${yy}-${mm}-01T00:00:00+02:00`,
    'each on the first of its month',
  ],
])('R93: full dates on %s of months need no answer', async (_, date, said) => {
  const exported = place((row) => [row.token, date(row), merchantOf(row.at)]);
  expect(await rowsOf(exported)).toEqual(right(merchantOf));
  const { stderr } = await exported.prepare();
  expect(/each on [^\n;]*/.exec(stderr)?.[0]).toBe(said);
});

/** A ready request of 30 rows, of which one has another merchant and one another year. */
function request(merchant: string, year = '27'): string {
  const row = (at: number): string => `${uuid(at)},${at === 4 ? year : '28'},05,${at === 3 ? merchant : 'M-1'}\n`;
  return `${HEADER}\n${Array.from({ length: 30 }, (_, at) => row(at)).join('')}`;
}

it('R93: svc au check and svc au submit refuse what a ready request cannot mean, and go on with --accept', async () => {
  for (const [text, check] of [
    [request('NULL'), 'marks'],
    [request('4.4E+14'), 'numbers'],
    [request("'M-1"), 'numbers'],
    [request('M-1', '99'), 'years'],
    [request('M-1').replaceAll(',28,05', ',20,05'), 'past'],
    [request('M-1').replace(uuid(2), 'TK123'), 'tokens'],
    [request('M-1').replace(uuid(2), `{${uuid(2)}}`), 'tokens'],
  ] as const) {
    const { run, path } = placeText(text);
    for (const command of ['check', 'submit']) {
      ended(await run('--sandbox', 'au', command, path), 13, {
        error: { checks: [check], next: expect.stringContaining(`--accept ${check}`) },
      });
      succeeded(await run('--sandbox', 'au', command, path, '--accept', check));
    }
  }
});
