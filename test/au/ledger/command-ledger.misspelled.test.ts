import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openMachine } from '../commands/machine.ts';

const SENDING = [
  'submit tokens.csv',
  'upload {job} tokens.csv',
  'refresh tokens.csv --cycle 2026-12 --pay-again',
  'resume',
];

it.each(SENDING)('R58: svc au %s sends nothing while the variable of the ledger is misspelled', async (line) => {
  const machine = await openMachine();
  writeFileSync(machine.path('work/tokens.csv'), exampleRequestFile());
  const created = await machine.svc('au create --yes');
  const { id } = JSON.parse(created.stdout) as { readonly id: string };
  const stopped = await machine.svc(`au ${line.replace('{job}', id)}`, { SVC_LEDGR: machine.path('shared') });
  expect([stopped.code, JSON.parse(stopped.stderr.split('\n').at(-2) ?? '')]).toMatchObject([
    3,
    {
      code: 'config',
      hint: 'Nothing was sent: without SVC_LEDGER, rows could be paid for twice. Rename SVC_LEDGR to SVC_LEDGER, or unset it.',
    },
  ]);
  const jobs = await machine.svc('au jobs -o json', { SVC_LEDGR: machine.path('shared') });
  expect(jobs.stderr).toContain('did you mean SVC_LEDGER?');
  expect(JSON.parse(jobs.stdout)).toMatchObject([{ id, status: 'pending' }]);
});
