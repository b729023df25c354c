import { expect, it } from 'vitest';
import { sandbox } from '../harness.ts';
const codeOf = (body: string) => /<Code>(.*)<\/Code>/.exec(body)?.[1];

it('an upload refuses more than 30,000,000 bytes and takes exactly as many', async () => {
  const on = await sandbox();
  const job = await on.createJob();
  const over = await on.upload(job, 'x'.repeat(30_000_001));
  expect([over.status, codeOf(await over.text())]).toEqual([400, 'EntityTooLarge']);
  expect((await on.upload(job, 'x'.repeat(30_000_000))).status).toBe(200);
});
