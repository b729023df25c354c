import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resultPlaces, type RowPlace } from '../../../src/au/refresh/result-places.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';

const [A, B, C] = [
  '11111111-2222-4333-8444-555555555555',
  '22222222-2222-4333-8444-555555555555',
  '33333333-2222-4333-8444-555555555555',
];
const REQUEST = 'token,expiration_year,expiration_month,merchant_id';

/** Returns the rows of results of tokens in two requests, whose rows are tokens and merchants. */
async function placesOf(
  results: readonly string[],
  requests: readonly (readonly string[])[],
  isOrdered = true,
): Promise<(RowPlace | undefined)[]> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-places-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (name: string, lines: readonly string[]): string => {
    writeFileSync(join(directory, name), [...lines, ''].join('\n'));
    return join(directory, name);
  };
  const file = write('results.csv', [RESULT_COLUMNS.join(), ...results.map((token) => `${token},28,05,,,,ERR_OTHER`)]);
  const paths = requests.map((rows, index) =>
    write(`${index}.csv`, [REQUEST, ...rows.map((row) => row.replace(' ', ',28,05,'))]),
  );
  const source = { file, places: requests.map((_, index) => index), mayHaveMore: true, isOrdered };
  const { rowOf } = await resultPlaces(source, paths);
  return results.map((token) => rowOf(token));
}

it('the row of a result in the file of several requests is in the last request with its token, if that has all merchants of it', async () => {
  const places = await placesOf(
    [B, A, A, C],
    [
      [`${A} M1`, `${A} M2`, `${B} M1`],
      [`${B} M1`, `${A} M2`, `${A} M1`, `${C} M1`],
    ],
    false,
  );
  expect(places).toEqual([
    { request: 1, place: 0 },
    { request: 1, place: 0 },
    { request: 1, place: 1 },
    { request: 1, place: 0 },
  ]);
});

it('the row of a result in the file of several requests is in one of them, where each has another merchant and the file their order', async () => {
  const requests = [
    [`${A} M1`, `${A} M2`, `${B} M1`],
    [`${C} M1`, `${A} M2`, `${A} M3`],
  ];
  expect(await placesOf([A, B, C, A, A], requests)).toEqual([
    { request: 0, place: 0 },
    { request: 0, place: 0 },
    { request: 1, place: 0 },
    { request: 1, place: 0 },
    { request: 1, place: 1 },
  ]);
  expect(await placesOf([A, B, C, A, A], requests, false)).toMatchObject([undefined, {}, {}, undefined, undefined]);
});

it('the row of a result in the file of several requests is not known, where a row of another request has no result', async () => {
  // The last request has two rows of the token, but one of the two results may be of the first request.
  const places = await placesOf([A, A, B], [[`${A} M1`], [`${A} M2`, `${A} M3`, `${B} M1`]]);
  expect(places).toMatchObject([undefined, undefined, { request: 1, place: 0 }]);
});
