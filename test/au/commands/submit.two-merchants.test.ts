import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { HereResult } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
/** Tokens whose cards have a new number at the sandbox. */
const [A = '', B = '', C = ''] = ROWS.map((row) => row.slice(0, 36));

async function merchantDesk(files: Readonly<Record<string, readonly string[]>>): Promise<QuickDesk> {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1', 'M2', 'M3'] });
  for (const [name, rows] of Object.entries(files)) writeFileSync(desk.home.file(name), [...rows, ''].join('\n'));
  return desk;
}

function rowOf({ code, stdout, stderr }: HereResult): Record<string, unknown> {
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

function tokensIn({ home }: QuickDesk, name: string): string[] {
  const lines = readFileSync(home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  return lines.map((line) => line.slice(0, 36));
}

describe('a token with two merchants in two jobs', () => {
  it('the result for another merchant of a token is left out of a file that does not have that row', async () => {
    const desk = await merchantDesk({
      'wrong.csv': [HEADER, `${A},28,05,M3`, `${B},28,05,M1`],
      'right.csv': [HEADER, `${A},28,05,M1`, `${B},28,05,M1`],
    });
    rowOf(await desk.svc('au submit wrong.csv --cycle 2026-12 --wait'));
    const done = rowOf(await desk.svc('au submit right.csv --cycle 2026-12 --wait --out r.csv'));
    expect(done).toMatchObject({ sent: 1, left_out: 1, results: { compared: true, updated: 2 } });
    expect(tokensIn(desk, 'r.csv')).toEqual([A, B]);
    rowOf(await desk.svc('au report r.csv --request right.csv'));
  });

  it('the results of a token with two merchants, of which each job had one, have the order of the rows', async () => {
    const desk = await merchantDesk({
      'first.csv': [HEADER, `${B},28,05,M1`, `${A},28,05,M2`],
      'both.csv': [HEADER, `${A},28,05,M1`, `${B},28,05,M1`, `${A},28,05,M2`, `${C},28,05,M1`],
    });
    rowOf(await desk.svc('au submit first.csv --cycle 2026-12 --wait --out f.csv'));
    const done = rowOf(await desk.svc('au submit both.csv --cycle 2026-12 --wait --out r.csv'));
    expect(done).toMatchObject({ sent: 2, left_out: 2 });
    expect(tokensIn(desk, 'r.csv')).toEqual([A, B, A, C]);
    const line = (file: string, at: number): string => readFileSync(desk.home.file(file), 'utf8').split('\n')[at] ?? '';
    expect(line('r.csv', 3)).toBe(line('f.csv', 2));
  });
});
