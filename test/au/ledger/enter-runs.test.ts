import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openMachine } from '../commands/machine.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

it('R85: the new tokens of a job that was ignored before its run was entered are not sent in its cycle', async () => {
  const machine = await openMachine();
  const shared = { SVC_LEDGER: machine.path('shared') };
  const runner = { ...shared, SVC_STATE_DIR: machine.path('runner') };
  const submit = async (name: string, rows: readonly string[], more: string, env: Record<string, string>) => {
    writeFileSync(machine.path(`work/${name}.csv`), `${[HEADER, ...rows].join('\n')}\n`);
    const sent = await machine.svc(`au submit ${name}.csv --cycle 2026-12 ${more}`.trim(), env);
    expect(sent.code, sent.stderr).toBe(0);
    return JSON.parse(sent.stdout) as { readonly job: string };
  };
  await submit('theirs', ROWS.slice(20), '', runner);
  const { job } = await submit('ours', ROWS.slice(0, 20), '--begin', {});
  expect((await machine.svc(['au', 'ignore', job, '--yes'], runner)).code).toBe(0);
  await submit('ours', ROWS.slice(0, 20), '--wait --out results.csv', shared);
  const [names = '', ...results] = readFileSync(machine.path('work/results.csv'), 'utf8').trimEnd().split('\n');
  const column = names.split(',').indexOf('new_token');
  const made = results.flatMap((row) => row.split(',')[column] || []).slice(0, 3);
  expect(made).toHaveLength(3);
  await submit(
    'next',
    made.map((token) => `${token},,,`),
    '',
    shared,
  );
  expect(machine.uploads()).toBe(2);
  const again = await machine.svc(['au', 'ignore', job, '--yes'], runner);
  expect([again.code, again.stderr]).toEqual([6, expect.stringContaining(`svc sent job ${job}`)]);
  const status = await machine.svc(['au', 'status', '2026-12'], runner);
  const claims = status.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly job: string; readonly results_read: boolean });
  expect(claims.find((claim) => claim.job === job)).toMatchObject({ results_read: true });
});
