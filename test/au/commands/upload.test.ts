import { expect, it } from 'vitest';
import { ended, rowOf } from '../../support/run-here.ts';
import { openMachine } from './machine.ts';
import { refuseUploads } from './uploading.ts';

it('R36: the upload of a file to a job goes on with a submission of the file that sent nothing, and the file is sent once', async () => {
  const machine = await openMachine();
  machine.fault = refuseUploads;
  expect((await machine.svc('au submit tokens.csv')).code).not.toBe(0);
  machine.fault = undefined;
  const [job = ''] = machine.jobs();
  rowOf(await machine.svc(`au upload ${job} tokens.csv`));
  ended(await machine.svc('au submit tokens.csv'), 0, { uploads: 1 });
});

it('svc au upload names the command that waits, and for a job that is completed the command that gets its results', async () => {
  const machine = await openMachine({ pickupMs: 0 });
  const job = String(rowOf(await machine.svc('au create'))['id']);
  ended(await machine.svc(`au upload ${job} tokens.csv`), 0, `svc au resume ${job} --wait\n`);
  ended(await machine.svc(`au upload ${job} tokens.csv`), 6, { error: { next: `svc au download ${job}` } });
});
