import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

function checkTables(today: string): { status: number | null; files: string[] } {
  const { status, stdout } = spawnSync(process.execPath, ['build/release/tables.mjs', '--today', today], {
    cwd: new URL('../../', import.meta.url),
    encoding: 'utf8',
  });
  return { status, files: stdout.match(/\w+\.csv/g) ?? [] };
}

it('the release script refuses tables of standards that are more than a year old', () => {
  expect(checkTables('2026-11-28')).toEqual({ status: 0, files: [] });
  expect(checkTables('2027-03-01')).toEqual({ status: 1, files: ['countries.csv'] });
  expect(checkTables('2028-01-01')).toEqual({ status: 1, files: ['currencies.csv', 'countries.csv'] });
});
