import { writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { uploadToJob } from '../../../src/index.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { type Bench, openBench } from '../support.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';

let bench: Bench;
afterEach(() => bench.close());

it('the upload of a program sends a file that the service takes', async () => {
  bench = await openBench();
  const job = await bench.client.accountUpdater.create();
  await uploadToJob(bench.client, job, await fileSource(bench.file));
  expect(bench.uploads()).toBe(1);
});

it.each([
  ['a card number', `${HEADER}4242424242424242,27,01,\n`],
  ['another header', 'token,year\na,27\n'],
])('R40: the upload of a program sends nothing of a file with %s', async (_, text) => {
  bench = await openBench();
  writeFileSync(bench.file, text);
  const job = await bench.client.accountUpdater.create();
  const refused = await uploadToJob(bench.client, job, await fileSource(bench.file)).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'refused_input', facts: { problem_count: expect.any(Number) } });
  expect(JSON.stringify(refused)).not.toContain('4242424242424242');
  expect(bench.uploads()).toBe(0);
});
