import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readFault } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { exampleRequestFile, sandboxCards } from '../../../src/emulator/vault/cards.ts';
import { RESULT_CODES } from '../../../src/schema/account-updater-files.ts';
import type { LogPage } from '../../../src/schema/log.ts';
import { type Job, type JobPage, MANAGEMENT, PRIVATE, problemOf, sandbox, START } from '../harness.ts';
import { until } from '../../support/until.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const HOUR = 3_600_000;

async function rowsOf(job: Job): Promise<Record<string, string>[]> {
  const text = await (await fetch(job.download_url)).text();
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

it('a job is pending with its address, processed for a while, then completed with a download', async () => {
  const on = await sandbox({ processingMs: 2000, pickupMs: 250 });
  const job = await on.createJob();
  expect(job).toMatchObject({
    status: 'pending',
    created_at: new Date(START).toISOString(),
    expires_at: new Date(START + HOUR).toISOString(),
    errors: [],
  });
  expect(job.download_url).toBeUndefined();
  expect((await on.upload(job, exampleRequestFile())).status).toBe(200);
  const seen = [];
  for (const ms of [0, 249, 250, 1999, 2000]) {
    on.clock.ms = START + ms;
    const { status, upload_url, expires_at, download_url } = await on.readJob(job.id);
    seen.push([status, upload_url !== undefined, expires_at !== undefined, download_url !== undefined]);
  }
  expect(seen).toEqual([
    ['pending', true, true, false],
    ['pending', true, true, false],
    ['processing', false, false, false],
    ['processing', false, false, false],
    ['completed', false, false, true],
  ]);
});

it('a job is removed when no file came within the hour, but stays when one did', async () => {
  const on = await sandbox();
  const [empty, used] = [await on.createJob(), await on.createJob()];
  await on.upload(used, exampleRequestFile());
  on.clock.ms += HOUR - 1;
  expect((await on.readJob(empty.id)).status).toBe('pending');
  on.clock.ms += 1;
  expect((await on.call(`/account-updater/jobs/${empty.id}`, { headers: PRIVATE })).status).toBe(404);
  expect((await on.readJob(used.id)).status).toBe('completed');
  const { data } = await on.json<JobPage>('/account-updater/jobs', { headers: PRIVATE });
  expect(data.map((job) => job.id)).toEqual([used.id]);
});

it('a job is created whatever JSON the body is, and refused for what is none', async () => {
  const on = await sandbox();
  const post = (body?: string) => on.call('/account-updater/jobs', { method: 'POST', headers: PRIVATE, body: body! });
  for (const body of [undefined, '', '{}', '{"name":"x"}', 'null']) expect((await post(body)).status).toBe(201);
  expect((await post('{')).status).toBe(400);
  expect((await post(`"${'x'.repeat(1_000_001)}"`)).status).toBe(413);
});

it('a job answers 404 to an unknown id', async () => {
  const on = await sandbox();
  const answer = await on.call('/account-updater/jobs/00000000-0000-4000-a000-000000000000', { headers: PRIVATE });
  expect([answer.status, (await problemOf(answer)).title]).toEqual([404, 'Not Found']);
});

it('a job has a speed that is fixed at the upload, for every process', async () => {
  const on = await sandbox({ processingMs: 5000 });
  const other = await sandbox({ directory: on.directory, clock: on.clock });
  const job = await on.createJob();
  await on.upload(job, exampleRequestFile());
  expect((await other.readJob(job.id)).status).toBe('pending');
  on.clock.ms += 4999;
  expect((await other.readJob(job.id)).status).toBe('processing');
  on.clock.ms += 1;
  expect((await other.readJob(job.id)).status).toBe('completed');
});

it('R26: the list of jobs gives every job once, newest first, whatever the page size', async () => {
  const on = await sandbox();
  const ids: string[] = [];
  for (let count = 0; count < 23; count += 1) ids.unshift((await on.createJob()).id);
  for (const size of [1, 5, 22, 23, 100]) {
    const seen: string[] = [];
    for (let start: string | null = ''; start !== null;) {
      const query = new URLSearchParams({ size: String(size), start });
      const page = await on.json<JobPage>(`/account-updater/jobs?${query.toString()}`, { headers: PRIVATE });
      expect(page.pagination.page_size).toBe(size);
      seen.push(...page.data.map((job) => job.id));
      start = page.pagination.next;
    }
    expect(seen).toEqual(ids);
  }
});

it('the list of jobs shows 20 jobs by default, 100 at most, and refuses a cursor of another list', async () => {
  const on = await sandbox();
  for (let count = 0; count < 21; count += 1) await on.createJob();
  const page = await on.json<JobPage>('/account-updater/jobs', { headers: PRIVATE });
  expect(page.data).toHaveLength(20);
  const logs = await on.json<LogPage>('/logs?size=1', { headers: MANAGEMENT });
  const get = async (query: Record<string, string>) =>
    (await on.call(`/account-updater/jobs?${new URLSearchParams(query).toString()}`, { headers: PRIVATE })).status;
  expect(await get({ size: '101' })).toBe(400);
  expect(await get({ size: '100' })).toBe(200);
  expect(await get({ start: logs.pagination!.next! })).toBe(400);
});

it('the list of jobs settles jobs whose time has come', async () => {
  const on = await sandbox({ processingMs: 1000 });
  const jobs = [await on.createJob(), await on.createJob()];
  await on.upload(jobs[0]!, exampleRequestFile());
  await on.upload(jobs[1]!, 'wrong\n');
  on.clock.ms += 1000;
  const { data } = await on.json<JobPage>('/account-updater/jobs', { headers: PRIVATE });
  expect(data.map((job) => job.status)).toEqual(['failed', 'completed']);
});

it('a result has the code of each test card and of an unknown token, and leaves out cards without an update', async () => {
  const on = await sandbox();
  const job = await on.process(exampleRequestFile());
  const rows = await rowsOf(job);
  const cards = sandboxCards();
  expect(new Set(rows.map((row) => row['result_code']))).toEqual(new Set(RESULT_CODES));
  expect(rows.pop()).toMatchObject({ result_code: 'ERR_INVALID_TOKEN' });
  expect(rows.map((row) => [row['token'], row['result_code']])).toEqual(
    cards.filter((card) => card.result_code !== '').map((card) => [card.token, card.result_code]),
  );
  expect(cards.filter((card) => card.result_code === '')).toHaveLength(2);
  for (const row of rows) {
    const card = cards.find(({ token }) => token === row['token'])!;
    expect(row['new_token'] !== '').toBe(card.new_token);
    expect([row['expiration_year'], row['expiration_month']]).toEqual(['23', '12']);
  }
  expect(rows.find((row) => row['result_code'] === 'UPD_EXP_DATE')).toMatchObject({
    new_expiration_year: '26',
    new_expiration_month: '12',
  });
  const renewed = rows.map((row) => row['new_token']).filter(Boolean);
  expect(new Set(renewed).size).toBe(renewed.length);
  expect(renewed.length).toBe(13);
});

it('a result has exactly the columns of the interface', async () => {
  const on = await sandbox();
  const job = await on.process(`${HEADER}\nnobody,,,\n`);
  expect(await (await fetch(job.download_url)).text()).toBe(
    'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code\n' +
      'nobody,,,,,,ERR_INVALID_TOKEN\n',
  );
});

it('a result names new tokens that are there afterwards, and have no news', async () => {
  const on = await sandbox();
  const first = await on.process(exampleRequestFile());
  const tokens = (await rowsOf(first)).map((row) => row['new_token']).filter(Boolean);
  const again = await on.process(`${[HEADER, ...tokens.map((token) => `${token},,,`)].join('\n')}\n`);
  expect(await rowsOf(again)).toEqual([]);
});

it('a result gives a token of a job that was not completed at the upload as unknown', async () => {
  const on = await sandbox();
  const first = await on.process(exampleRequestFile());
  const token = (await rowsOf(first))[0]!['new_token']!;
  // The same seed and start create the same jobs: `maker` will create this token, but has not completed yet.
  const early = await sandbox({ processingMs: 1000 });
  const maker = await early.createJob();
  expect(maker.id).toBe(first.id);
  const asker = await early.createJob();
  await early.upload(maker, exampleRequestFile());
  await early.upload(asker, `${HEADER}\n${token},,,\n`);
  early.clock.ms += 1000;
  const { data } = await early.json<JobPage>('/account-updater/jobs', { headers: PRIVATE });
  expect(await rowsOf(data[0]!)).toMatchObject([{ token, result_code: 'ERR_INVALID_TOKEN' }]);
});

it('a result of a sandbox that accepts tokens takes each UUID for a card, and invents new tokens that are none', async () => {
  const on = await sandbox({ acceptTokens: true, processingMs: 1000 });
  const [card] = sandboxCards();
  const tokens = Array.from({ length: 2_000 }, () => randomUUID());
  const rows = [card!.token, ...tokens, 'tok_1'].map((token) => `${token},27,01,`);
  const job = await on.createJob();
  await on.upload(job, [HEADER, ...rows, `${randomUUID()},27,01,M-1`, ''].join('\n'));
  on.clock.ms += 1000;
  // What was accepted is recorded with the upload, so that another process makes the same result.
  const other = await sandbox({ directory: on.directory, clock: on.clock });
  const found = await rowsOf(await other.readJob(job.id));
  const [first] = found;
  const [unknown, misconfigured] = found.slice(-2);
  expect(first).toMatchObject({ token: card!.token, result_code: card!.result_code });
  expect(unknown).toMatchObject({ token: 'tok_1', result_code: 'ERR_INVALID_TOKEN' });
  expect(misconfigured).toMatchObject({ result_code: 'ERR_INVALID_CONFIG' });
  expect(found.filter((row) => row['result_code'] === 'ERR_INVALID_TOKEN')).toHaveLength(1);
  expect(found.length).toBeGreaterThan(40);
  expect(found.length).toBeLessThan(400);
  const invented = found.map((row) => row['new_token']).filter((token) => token !== '');
  expect(invented.length).toBeGreaterThan(20);
  for (const token of invented) expect(token).toMatch(/^rehearsal-[0-9a-f]{16}$/);
});

it('a result is the same bytes from whichever process makes it', async () => {
  const files = await Promise.all(
    [0, 0].map(async () => {
      const job = await (await sandbox()).process(exampleRequestFile());
      return (await fetch(job.download_url)).text();
    }),
  );
  expect(files[0]).toBe(files[1]);
});

it('a result fails the job, with reasons, for a file that is none', async () => {
  const on = await sandbox();
  const [card] = sandboxCards();
  const broken = {
    '': 'no rows',
    [`${HEADER}\n`]: 'no rows',
    'token,month\n': 'header',
    [`\uFEFF${HEADER}\n${card!.token},,,\n`]: 'header',
    [`${HEADER}\n${card!.token},,\n`]: 'Line 2: expected 4 columns, found 3',
    [`${HEADER}\n${card!.token},,,\n,,,\n`]: 'Line 3: the token is missing',
    [`${HEADER}\n"${card!.token},,,\n`]: 'Line 2: a quoted value does not end',
  };
  for (const [body, reason] of Object.entries(broken)) {
    const job = await on.process(body);
    expect([job.status, job.errors?.length]).toEqual(['failed', 1]);
    expect(job.errors?.[0]).toContain(reason);
    expect(job.download_url).toBeUndefined();
  }
  const job = await on.createJob();
  await fetch(job.upload_url, { method: 'PUT', body: Buffer.from([...Buffer.from(`${HEADER}\n`), 0xe9, 0x2c]) });
  expect((await on.readJob(job.id)).errors?.[0]).toContain('UTF-8');
});

it('a result reads quoted cells and both kinds of line end, and quotes what needs it', async () => {
  const on = await sandbox();
  const [card] = sandboxCards();
  const job = await on.process(`${HEADER}\r\n"${card!.token}",23,12,SANDBOX\r\n"a,""b",,,\r\n`);
  const text = await (await fetch(job.download_url)).text();
  expect(text.split('\n').slice(1)).toEqual([
    expect.stringMatching(`^${card!.token},23,12,.*,UPD_PAN$`),
    '"a,""b",,,,,,ERR_INVALID_TOKEN',
    '',
  ]);
});

it('a result refuses a second file before processing begins, and leaves the first', async () => {
  const on = await sandbox({ processingMs: 2000, pickupMs: 500 });
  const job = await on.createJob();
  expect((await on.upload(job, `${HEADER}\nnobody,,,\n`)).status).toBe(200);
  const again = await on.upload(job, 'wrong\n');
  expect([again.status, await again.text()]).toEqual([412, expect.stringContaining('PreconditionFailed')]);
  on.clock.ms += 2000;
  expect((await on.readJob(job.id)).status).toBe('completed');
  const puts = on.ledger().filter(({ method }) => method === 'PUT');
  expect(puts.map(({ status }) => status)).toEqual([200, 412]);
  const logs = await on.json<LogPage>(`/logs?entity_id=${job.id}`, { headers: MANAGEMENT });
  expect(logs.data.map(({ message }) => message)).toContain('Request file upload refused');
});

it('a result is of the last file where a fault lets another follow before processing begins', async () => {
  const intercept = faultInterceptor([readFault('accept-second-put@PUT /store/**')]);
  const on = await sandbox({ processingMs: 2000, pickupMs: 500, intercept });
  const job = await on.createJob();
  await on.upload(job, 'wrong\n');
  on.clock.ms += 499;
  expect((await on.upload(job, `${HEADER}\nnobody,,,\n`)).status).toBe(200);
  on.clock.ms += 2000;
  const done = await on.readJob(job.id);
  expect(done.status).toBe('completed');
  expect(await rowsOf(done)).toHaveLength(1);
});

it('a result is made in the background, before anyone asks', async () => {
  const on = await sandbox();
  const job = await on.createJob();
  await on.upload(job, exampleRequestFile());
  await until(() => on.files().includes(`result-${job.id}.csv`));
  expect(on.ledger().map(({ method }) => method)).toEqual(['POST', 'PUT']);
});

it('a result takes 300,000 rows', async () => {
  const count = process.env['SOAK'] ? 300_000 : 3_000;
  const on = await sandbox();
  const token = sandboxCards()[0]!.token;
  const job = await on.process(`${HEADER}\n${`${token},,,\n`.repeat(count)}`);
  const rows = await rowsOf(job);
  expect(rows).toHaveLength(count);
  expect(new Set(rows.map((row) => row['new_token'])).size).toBe(count);
});

describe('merchant ids', () => {
  const card = sandboxCards().find(({ result_code }) => result_code === 'UPD_PAN');
  const codes = async (options: Parameters<typeof sandbox>[0]): Promise<(string | undefined)[]> => {
    const on = await sandbox(options);
    const rows = ['', 'SANDBOX', 'M-1', 'M-2'].map((merchant) => `${card?.token},,,${merchant}\n`);
    const results = await rowsOf(await on.process(`${HEADER}\n${rows.join('')}`));
    return results.map((row) => row['result_code']);
  };
  const WRONG = 'ERR_INVALID_CONFIG';

  it('a test tenant takes an empty merchant id and SANDBOX, whatever a production tenant takes', async () => {
    const expected = ['UPD_PAN', 'UPD_PAN', WRONG, WRONG];
    expect(await codes({})).toEqual(expected);
    expect(await codes({ merchants: ['M-1'] })).toEqual(expected);
  });

  it('a production tenant takes the merchant ids that it was given, and requires one of them', async () => {
    expect(await codes({ tenants: ['production'], merchants: ['M-1', 'M-2'] })).toEqual([
      WRONG,
      WRONG,
      'UPD_PAN',
      'UPD_PAN',
    ]);
  });

  it('a production tenant without merchant ids takes an empty one only', async () => {
    expect(await codes({ tenants: ['production'] })).toEqual(['UPD_PAN', WRONG, WRONG, WRONG]);
  });
});
