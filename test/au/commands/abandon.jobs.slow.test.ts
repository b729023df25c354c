import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn, succeeded } from '../../support/run-here.ts';
import { openDesk } from './support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { DAY, forget, hide, sentDesk } from './abandoning.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R79: svc au abandon frees no rows of a job whose results were read, although the service does not find it', async () => {
  const desk = await sentDesk(' --wait');
  await hide(desk);
  const refused = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 6, stdout: '' });
  expect(errorIn(refused)['next']).toBe('svc au status 2026-12');
});

it('svc au abandon frees the rows of a job that the service does not find, although a proxy or the store confirmed its file', async () => {
  const desk = await sentDesk();
  await forget(desk);
  const freed = succeeded(await desk.svc(`au abandon ${desk.job} --yes`));
  expect(freed.stderr).toContain('may have been paid for');
  const again = await desk.svc('au submit tokens.csv --cycle 2026-12');
  expect([again.code, desk.uploads()], again.stderr).toEqual([0, 2]);
});

it.each(['processing', 'completed'])(
  'R79: svc au abandon frees no rows of a job that two reads do not find, and that the list shows as %s',
  async (status) => {
    const desk = await sentDesk();
    desk.said.statuses = ['forgotten'];
    desk.said.listed = status;
    const refused = await desk.svc(`au abandon ${desk.job} --yes`);
    expect(refused, refused.stderr).toMatchObject({ code: 6, stdout: '' });
    expect(errorIn(refused)).toMatchObject({ job: desk.job, next: expect.stringContaining(desk.job) });
  },
);

it('R79: svc au abandon frees no rows while it can still be proven whether their job has its file, and says since when it can', async () => {
  const desk = await sentDesk();
  await hide(desk);
  const confirmed = await desk.svc(`au abandon ${desk.job} --yes`);
  expect([confirmed.code, errorIn(confirmed)['message']]).toEqual([9, expect.stringContaining('the store confirmed')]);
  // Without the confirmation, the list can prove that the job has no file.
  desk.files(desk.job).record('all');
  const early = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(early, early.stderr).toMatchObject({ code: 9, stdout: '' });
  expect(errorIn(early)).toMatchObject({
    message: expect.stringMatching(/ is known at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ by the service's clock$/),
    next: 'svc au resume 2026-12',
    retryable: true,
  });
  await desk.clock.advance(6 * DAY);
  await hide(desk);
  expect(await desk.svc(`au abandon ${desk.job} --yes`)).toMatchObject({ code: 9 });
  await desk.clock.advance(2 * DAY);
  await hide(desk);
  expect(await desk.svc(`au abandon ${desk.job} --yes`)).toMatchObject({ code: 0 });
});

it('R79: svc au abandon closes a forgotten job whose results another submission read only for their tokens, and frees no rows', async () => {
  const place = temporaryDirectory();
  const ledger = sharedLedger(join(place, 'ledger'));
  const other = { ...ledger, SVC_STATE_DIR: join(place, 'other') };
  const desk = await sentDesk('', ledger);
  writeFileSync(desk.home.file('more.csv'), `${exampleRequestFile().split('\n', 1).join('')}\none-more,,,\n`);
  expect(await desk.svc('au submit more.csv --cycle 2026-12 --wait', other)).toMatchObject({ code: 0 });
  await desk.clock.advance(20 * DAY);
  Object.assign(desk.said, { statuses: ['forgotten'], job: desk.job });
  const lost = await desk.svc('au resume 2026-12', other);
  expect([lost.code, errorIn(lost)['next']], lost.stderr).toEqual([9, `svc au abandon ${desk.job}`]);
  expect(lost.stderr).toContain('The rows are paid for and are not sent again');
  // The ledger proves that the rows were sent, whoever has the results.
  const submit = 'au submit tokens.csv --cycle 2026-12';
  succeeded(await desk.svc(submit, other));
  expect(await desk.svc('au resume', other)).toMatchObject({ code: 9 });
  succeeded(await desk.svc(`au abandon ${desk.job} --yes`, other));
  expect(await desk.svc('au resume', other)).toMatchObject({ code: 0 });
  expect(await desk.svc(submit, other)).toMatchObject({ code: 0 });
  expect(desk.uploads()).toBe(2);
});

it('R79: svc au abandon looks at the job again after the question', async () => {
  const desk = await sentDesk();
  rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  desk.said.statuses = ['pending', 'completed'];
  const refused = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 6, stdout: '' });
  expect(errorIn(refused)['message']).toBe(`the rows of job ${desk.job} are not free: it is completed`);
  desk.said.statuses = [];
  expect(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait')).toMatchObject({ code: 0 });
  expect(desk.uploads()).toBe(1);
});

it('R79: svc au abandon frees no rows of a job to which a living process is sending its file', async () => {
  const uploads: (() => void)[] = [];
  const desk = await openDesk({
    processingMs: 3_600_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method !== 'PUT') return proceed();
      uploads.push(proceed);
    },
  });
  const submitting = desk.svc('au submit tokens.csv --cycle 2026-12');
  await expect.poll(() => uploads.length).toBe(1);
  const [job = ''] = desk.jobs();
  const refused = await desk.svc(`au abandon ${job} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 11, stdout: '' });
  expect(refused.stderr).toContain(`job ${job} is locked by process`);
  uploads[0]?.();
  expect(await submitting).toMatchObject({ code: 0 });
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  expect(desk.uploads()).toBe(1);
});

it('R79: svc au abandon frees no rows of a job to which a living svc au upload is sending its file', async () => {
  const uploads: (() => void)[] = [];
  const desk = await openDesk({
    processingMs: 3_600_000,
    pickupMs: 0,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method !== 'PUT') return proceed();
      uploads.push(proceed);
    },
  });
  const { id } = JSON.parse((await desk.svc('au create')).stdout) as { readonly id: string };
  const uploading = desk.svc(`au upload ${id} tokens.csv`);
  await expect.poll(() => uploads.length).toBe(1);
  const refused = await desk.svc(`au abandon ${id} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 11, stdout: '' });
  expect(refused.stderr).toContain(`job ${id} is locked by process`);
  uploads[0]?.();
  expect(await uploading).toMatchObject({ code: 0 });
  expect((await desk.svc('au submit tokens.csv')).code).toBe(0);
  expect(desk.uploads()).toBe(1);
});
