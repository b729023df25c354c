import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile, sandboxCards } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk } from '../../au/commands/support.ts';
import { type HereResult, rowOf } from '../../support/run-here.ts';

it('the first eight digits of an id name the session and the job that tables show so, and others stay unknown', async () => {
  const desk = await openQuickDesk();
  const { home } = desk;
  const svc = (line: string): Promise<HereResult> =>
    desk.svc(line, { SVC_MANAGEMENT_API_KEY: 'sandbox-management-key' });
  const session = String(rowOf(await svc(`3ds create --token ${sandboxCards()[0]?.token}`))['id']);
  writeFileSync(home.file('body.json'), (await svc('3ds template payment-transaction')).stdout);
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  const done = String(rowOf(await svc('au submit tokens.csv --wait'))['job']);
  const job = String(rowOf(await svc('au create'))['id']);
  const lines: readonly (readonly [id: string, line: string, code?: number])[] = [
    [session, '3ds show ID'],
    [session, '3ds authenticate ID --file body.json'],
    [session, '3ds challenge-result ID'],
    [job, 'au status ID'],
    [job, 'au resume ID', 11],
    [done, 'au download ID --out again.csv --force'],
    [done, 'au abandon ID', 6],
    [job, 'au upload ID tokens.csv --accept tokens --dry-run', 6],
  ];
  for (const [id, line, code = 0] of lines) {
    const short = id.slice(0, 8);
    const typed = (word: string): Promise<HereResult> => svc(line.replace('ID', word));
    const shown = await typed(short);
    expect([shown.code, shown.stderr], line).toEqual([code, expect.stringContaining(`${short} is ${id}\n`)]);
    for (const unknown of [short.slice(0, 7), '01234567']) expect((await typed(unknown)).code, line).toBe(5);
  }
});
