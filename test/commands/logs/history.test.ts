import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { systemClock } from '../../../src/system.ts';
import { filesIn, TENANT } from '../../logs/archive/build.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from './log-server.ts';

const HOUR = 3_600_000;

async function world() {
  const server = await startLogServer();
  onTestFinished(() => server.close());
  server.tenant = TENANT;
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-history-'));
  onTestFinished(() => fs.rmSync(cwd, { recursive: true, force: true }));
  const here = { baseUrl: new URL(server.url), cwd, clock: systemClock };
  const svc = (...argv: string[]) => svcHere(['logs', ...argv], here);
  return { server, cwd, svc };
}

function about(id: string, msAgo: number, message: string): Log {
  return logAgo(msAgo, message, { tenant_id: TENANT, entity_id: id });
}

function messages(stdout: string): unknown[] {
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : ((JSON.parse(line) as Log).message ?? [])));
}

describe('svc logs history', () => {
  it('shows what the service still has of one entity, oldest first, and says how far back that goes', async () => {
    const { server, svc } = await world();
    server.logs.push(about('one', 60_000, 'last'), about('one', HOUR, 'first'), about('two', 90_000, 'other'));
    const { code, stdout, stderr } = await svc('history', 'one');
    expect([code, messages(stdout)]).toEqual([0, ['first', 'last']]);
    expect(stderr).toContain('from the last 1d; --archive adds what is older');
    expect((await svc('history', 'three')).stderr).toContain('no log entries');
  });

  it('R28 joins an archive and the service: each entry once, also late and equal ones, in one order', async () => {
    const { server, cwd, svc } = await world();
    const twin = about('one', 60_000, 'twin');
    server.logs.push(about('one', HOUR, 'old'), about('two', HOUR, 'other'), twin, twin);
    await svc('archive', 'audit');
    server.logs.shift();
    server.logs.push(twin, about('one', 90_000, 'late'));
    const { code, stdout } = await svc('history', 'one', '--archive', 'audit');
    expect([code, messages(stdout)]).toEqual([0, ['old', 'late', 'twin', 'twin', 'twin']]);
    const index = filesIn(path.join(cwd, 'audit')).find((file) => file.startsWith('_index/')) ?? '';
    fs.truncateSync(path.join(cwd, 'audit', index), 5);
    const damaged = await svc('history', 'one', '--archive', 'audit');
    expect([damaged.code, damaged.stdout]).toEqual([0, stdout]);
    expect(damaged.stderr).toContain('1 file of the index could not be used: more was read');
  });

  it('R69 finds an id in upper case as the service does, in the archive too', async () => {
    const { server, svc } = await world();
    server.logs.push(about('3f2c-ab', HOUR, 'old'), about('other', HOUR, 'other'));
    await svc('archive', 'audit');
    server.logs.length = 0;
    expect(messages((await svc('history', '3F2C-AB', '--archive', 'audit')).stdout)).toEqual(['old']);
    expect(messages((await svc('search', 'audit', '--entity-id', '3F2C-AB')).stdout)).toEqual(['old']);
  });

  it('warns of no gap where the service keeps entries as long as --retention says, also beyond an archive', async () => {
    const { server, svc } = await world();
    server.aheadMs = -50 * HOUR;
    server.logs.push(about('one', 51 * HOUR, 'archived'));
    await svc('archive', 'audit');
    server.aheadMs = 0;
    server.logs.push(about('one', HOUR, 'since then'));
    const { stdout, stderr } = await svc('history', 'one', '--archive', 'audit', '--retention', '70h');
    expect(messages(stdout)).toEqual(['archived', 'since then']);
    expect(stderr).not.toContain('may be missing');
  });

  it('without a key, names the search of the archive alone, which needs none', async () => {
    const { server, cwd, svc } = await world();
    server.logs.push(about('one', HOUR, 'first'));
    await svc('archive', 'audit');
    const noKey = { baseUrl: new URL(server.url), cwd, env: { SVC_API_KEY: '' } };
    const argv = ['logs', 'history', 'one', '--archive', 'audit'];
    const result = await svcHere(argv, noKey);
    const search = 'logs search audit --entity-id one';
    expect(errorIn(result)).toMatchObject({ exit_code: 3, next: 'svc login', alternatives: [`svc ${search}`] });
    const offline = await svcHere(search.split(' '), { cwd });
    expect([offline.code, messages(offline.stdout)]).toEqual([0, ['first']]);
    expect(errorIn(await svcHere(argv.slice(0, 3), noKey))).not.toHaveProperty('alternatives');
  });

  it('prints as logs do, and ends with 5 where no archive is', async () => {
    const { server, svc } = await world();
    server.logs.push(about('one', 60_000, 'last'));
    const { stdout } = await svc('history', 'one', '-o', 'csv', '--fields', 'entity_id,message');
    expect(stdout).toBe('entity_id,message\none,last\n');
    expect((await svc('history', 'one', '--archive', 'nowhere')).code).toBe(5);
  });
});
