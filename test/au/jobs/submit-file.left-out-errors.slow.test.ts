import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DEFAULT_SEED } from '../../../src/emulator/seed/logs.ts';
import { inventedCard } from '../../../src/emulator/vault/invented-card.ts';
import { HEADER } from '../rows.ts';
import { openQuickDesk } from '../commands/support.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const ROWS = IS_SOAK ? 300_000 : 30_000;
const WRONG = 12;

const tokenAt = (number: number): string =>
  `${number.toString(16).padStart(8, '0')}-9c1d-4e2f-8a3b-${(number * 7919).toString(16).padStart(12, '0')}`;

/** Returns tokens of which as many have an error as their result as are wanted, and no other one does. */
function tokensWith(wrong: number): { readonly tokens: string[]; readonly wrong: ReadonlySet<string> } {
  const tokens: string[] = [];
  const found = new Set<string>();
  for (let number = 1; tokens.length < ROWS; number += 1) {
    const token = tokenAt(number);
    const isWrong = inventedCard(DEFAULT_SEED, token, 0)?.update?.code?.startsWith('ERR_') === true;
    if (isWrong && found.size === wrong) continue;
    if (isWrong) found.add(token);
    tokens.push(token);
  }
  return { tokens, wrong: found };
}

it(`R79: the printed command bills the ${WRONG} rows of ${ROWS} that were corrected, and no other one`, async () => {
  const desk = await openQuickDesk({ acceptTokens: true, seed: DEFAULT_SEED });
  const { tokens, wrong } = tokensWith(WRONG);
  const write = (rowOf: (token: string) => string): void =>
    writeFileSync(desk.home.file('tokens.csv'), `${HEADER}\n${tokens.map(rowOf).join('\n')}\n`);
  write((token) => `${token},27,01,`);
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait'));
  write((token) => `${token},${wrong.has(token) ? '31,07' : '27,01'},`);
  const again = ended(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait --force'), 0, {
    row: { sent: 0, left_out: ROWS, left_out_errors: WRONG },
  });
  const [, command = ''] = /^.*svc (au submit tokens\.fix\.csv .*)$/m.exec(again.stderr) ?? [];
  succeeded(await desk.svc(command));
  const corrected = tokens.filter((token) => wrong.has(token)).map((token) => `${token},31,07,`);
  expect(desk.received().map((text) => text.trimEnd().split('\n').length - 1)).toEqual([ROWS, WRONG]);
  expect(desk.received()[1]).toBe(`${HEADER}\n${corrected.join('\n')}\n`);
  expect(readFileSync(desk.home.file('tokens.fix.csv'), 'utf8')).toBe(desk.received()[1]);
});
