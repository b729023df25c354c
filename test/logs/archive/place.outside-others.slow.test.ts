import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { BucketServer } from '../../support/bucket-server.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';
import { TENANT } from './build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Returns a function that archives the one entry of a log service to a location. */
async function openArchiver() {
  const server = await startLogServer();
  const bucket = await BucketServer.start();
  server.tenant = TENANT;
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT }));
  const cwd = temporaryDirectory();
  const clock = new FakeClock({ start: Date.now() });
  const svc = (command: string, location: string): Promise<HereResult> =>
    svcHere(['logs', command, location], { baseUrl: new URL(server.url), home: cwd, env: bucket.environment, clock });
  return { cwd, bucket, svc };
}

it.each([
  ['audit', 'audit/staging'],
  ['audit', 'audit/2026/staging'],
  ['audit', 'link/staging'],
  ['s3://logs', 's3://logs/staging'],
  ['s3://logs/audit', 's3://logs/audit/a/b'],
])('R33: after svc logs archive %s, none is begun in %s, so that no file is added to it', async (outer, inner) => {
  const { cwd, svc } = await openArchiver();
  fs.symlinkSync('audit', path.join(cwd, 'link'));
  expect(await svc('archive', outer)).toMatchObject({ code: 0 });
  const refused = await svc('archive', inner);
  expect([refused.code, refused.stdout], refused.stderr).toEqual([2, '']);
  expect(errorIn(refused)['message']).toMatch(/ is within the archive .*; nothing was written$/);
  succeeded(await svc('verify', outer));
});

it('a new archive is begun in a bucket of which the key may not read the parts above', async () => {
  const { bucket, svc } = await openArchiver();
  bucket.hook = ({ url = '' }, response, proceed) =>
    url.includes('/own/audit') || url.includes('own%2Faudit') ? proceed() : response.writeHead(403).end();
  expect(await svc('archive', 's3://logs/own/audit')).toMatchObject({ code: 0 });
});
