import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';

it('svc au prepare of a messy export compares the rows of a token however far apart they are', async () => {
  const rows = Array.from({ length: 12_000 }, (_, at) => `card-${at % 6_000},${at < 6_000 ? 'North' : 'South'}`);
  // Cards that are there once come first, more than the tokens whose rows are compared at a time.
  const once = Array.from({ length: 6_000 }, (_, at) => `once-${at},North`);
  writeFileSync('export.csv', ['token,branch', ...once, ...rows, ''].join('\n'));
  const refused = await svcHere(['au', 'prepare', 'export.csv']);
  expect(errorIn(refused)['message']).toBe(
    'export.csv: 6,000 of 18,000 rows repeat a token, and the column branch tells them apart',
  );
});
