import { expect, it } from 'vitest';
import { ended, rowOf } from '../../support/run-here.ts';
import { openMachine } from './machine.ts';
import { MINUTE, refuseUploads } from './uploading.ts';
import { acceptThen, inTurn } from '../support.ts';

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

it('R94: svc au upload does not report a file as stored while the job has that of another machine, however often it runs', async () => {
  const machine = await openMachine({ pickupMs: MINUTE });
  const job = String(rowOf(await machine.svc('au create'))['id']);
  machine.fault = inTurn('PUT', /^\/store\//, acceptThen(412));
  for (let run = 1; run <= 2; run += 1)
    ended(await machine.svc(`au upload ${job} tokens.csv`), 9, {
      error: {
        message: expect.stringContaining(`job ${job} may have another file`),
        next: `svc au resume ${job} --wait`,
      },
      unsaid: 'stored',
    });
  expect(machine.uploads()).toBe(1);
  ended(await machine.svc(`au resume ${job} --wait`), 0, `svc au download ${job}\n`);
});
