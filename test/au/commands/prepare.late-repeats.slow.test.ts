import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type * as Prepare from '../../../src/au/prepare/prepare.ts';
import { ended, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const places = vi.hoisted(() => new Set<unknown>());

// Repeats among millions of rows are found as they are among twenty, if only eight are found at once.
vi.mock('../../../src/au/prepare/prepare.ts', async (original) => {
  const module = await original<typeof Prepare>();
  const prepareRequest: typeof Prepare.prepareRequest = (source, outputs, options) => {
    places.add(typeof options?.openOverflow);
    return module.prepareRequest(source, outputs, { ...options, mostSlots: 10 });
  };
  return { ...module, prepareRequest };
});

it('svc au prepare writes a row once, with its latest expiration, in whichever two lines of a large export it is', async () => {
  const directory = temporaryDirectory();
  const rows = Array.from({ length: 20 }, (_, at) => `tok-${at},30,01`);
  const lines = ['token,expiration_year,expiration_month', ...rows, 'tok-3,31,02', 'tok-19,32,03', 'tok-18,,', ''];
  writeFileSync(join(directory, 'export.csv'), lines.join('\n'));
  const words = ['au', 'prepare', 'export.csv', '--out', 'tokens.csv', '-o', 'json'];
  ended(await svcHere(words, { cwd: directory }), 0, {
    row: { rows: 20, changes: { repeated_tokens: 3, later_dates: 2 } },
  });
  const later = new Map([
    [3, 'tok-3,31,02'],
    [19, 'tok-19,32,03'],
  ]);
  const expected = rows.map((row, at) => `${later.get(at) ?? row},`);
  expect(readFileSync(join(directory, 'tokens.csv'), 'utf8').trimEnd().split('\n').slice(1)).toEqual(expected);
  expect(places).toEqual(new Set(['function']));
});
