import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { openDesk } from './support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { DAY, forget, hide, sentDesk } from './abandoning.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R79: svc au abandon frees no rows of a job whose results were read, although the service does not find it', async () => {
  const desk = await sentDesk(' --wait');
  await hide(desk);
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 6, { stdout: '', error: { next: 'svc au status 2026-12' } });
});

it('svc au abandon frees the rows of a job that the service does not find, although a proxy or the store confirmed its file', async () => {
  const desk = await sentDesk();
  await forget(desk);
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 0, 'may have been paid for');
  ended(await desk.svc('au submit tokens.csv --cycle 2026-12'), 0, { uploads: 2 });
});

it.each(['processing', 'completed'])(
  'R79: svc au abandon frees no rows of a job that two reads do not find, and that the list shows as %s',
  async (status) => {
    const desk = await sentDesk();
    desk.said.statuses = ['forgotten'];
    desk.said.listed = status;
    ended(await desk.svc(`au abandon ${desk.job} --yes`), 6, {
      stdout: '',
      error: { job: desk.job, next: expect.stringContaining(desk.job) },
    });
  },
);

it('R79: svc au abandon frees no rows while it can still be proven whether their job has its file, and says since when it can', async () => {
  const desk = await sentDesk();
  await hide(desk);
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 9, {
    error: { message: expect.stringContaining('the store confirmed') },
  });
  // Without the confirmation, the list can prove that the job has no file.
  desk.files(desk.job).record('all');
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 9, {
    stdout: '',
    error: {
      message: expect.stringMatching(/ is known at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ by the service's clock$/),
      next: 'svc au resume 2026-12',
      retryable: true,
    },
  });
  await desk.clock.advance(6 * DAY);
  await hide(desk);
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 9);
  await desk.clock.advance(2 * DAY);
  await hide(desk);
  succeeded(await desk.svc(`au abandon ${desk.job} --yes`));
});

it('R79: svc au abandon closes a forgotten job whose results another submission read only for their tokens, and frees no rows', async () => {
  const place = temporaryDirectory();
  const ledger = sharedLedger(join(place, 'ledger'));
  const other = { ...ledger, SVC_STATE_DIR: join(place, 'other') };
  const desk = await sentDesk('', ledger);
  writeFileSync(desk.home.file('more.csv'), `${exampleRequestFile().split('\n', 1).join('')}\none-more,,,\n`);
  succeeded(await desk.svc('au submit more.csv --cycle 2026-12 --wait', other));
  await desk.clock.advance(20 * DAY);
  Object.assign(desk.said, { statuses: ['forgotten'], job: desk.job });
  ended(await desk.svc('au resume 2026-12', other), 9, 'The rows are paid for and are not sent again', {
    error: { next: `svc au abandon ${desk.job}` },
  });
  // The ledger proves that the rows were sent, whoever has the results.
  const submit = 'au submit tokens.csv --cycle 2026-12';
  succeeded(await desk.svc(submit, other));
  ended(await desk.svc('au resume', other), 9);
  succeeded(await desk.svc(`au abandon ${desk.job} --yes`, other));
  succeeded(await desk.svc('au resume', other));
  ended(await desk.svc(submit, other), 0, { uploads: 2 });
});

it('R79: svc au abandon looks at the job again after the question', async () => {
  const desk = await sentDesk();
  rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  desk.said.statuses = ['pending', 'completed'];
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 6, {
    stdout: '',
    error: { message: `the rows of job ${desk.job} are not free: it is completed` },
  });
  desk.said.statuses = [];
  ended(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait'), 0, { uploads: 1 });
});

it.each(['au submit tokens.csv', 'au upload JOB tokens.csv'])(
  'R79: svc au abandon frees no rows of a job to which a living process is sending its file: svc %s',
  async (line) => {
    const uploads: (() => void)[] = [];
    const desk = await openDesk({
      processingMs: 3_600_000,
      intercept: (incoming, _outgoing, proceed) => {
        if (incoming.method !== 'PUT') return proceed();
        uploads.push(proceed);
      },
    });
    const isUpload = line.includes('JOB');
    const created = isUpload ? (await desk.svc('au create')).stdout : '{}';
    const { id = '' } = JSON.parse(created) as { readonly id?: string };
    const sending = desk.svc(line.replace('JOB', id));
    await expect.poll(() => uploads.length).toBe(1);
    const [job = ''] = isUpload ? [id] : desk.jobs();
    ended(await desk.svc(`au abandon ${job} --yes`), 11, `job ${job} is locked by process`, { stdout: '' });
    uploads[0]?.();
    expect(await sending).toMatchObject({ code: 0 });
    ended(await desk.svc('au submit tokens.csv'), 0, { uploads: 1 });
  },
);
