import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Finished, Home } from '../../support/svc.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';

const home = new Home();
let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
});
afterEach(() => server.close());
afterAll(() => home.remove());

function env(): Record<string, string> {
  return { SVC_MANAGEMENT_API_KEY: 'a-key', SVC_BASE_URL: server.url, SVC_PACING: 'off' };
}

function csv(...more: string[]): Promise<Finished> {
  return home.svc(['logs', '--fields', 'message', ...more], { env: env() });
}

describe('svc logs list', () => {
  it.each([
    ['logs', 'list'],
    ['logs', 'tail', '--since', '1h', '--idle-exit', '1s'],
  ])('takes an entity id alone, also where the service passes over it: %s %s', async (...argv) => {
    for (const id of ['one', 'two', 'ONE']) server.logs.push(logAgo(600_000, `entry ${id}`, { entity_id: id }));
    const { code, stdout } = await home.svc(
      [...argv, '--entity-id', 'one', '-o', 'jsonl', '--fields', 'message,+new'],
      { env: env() },
    );
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual(['{"message":"entry ONE"}', '{"message":"entry one"}']);
  });

  it('R27 continues where a cursor expired, without loss or duplicates', async () => {
    server.pagesPerCursor = 3;
    for (let index = 0; index < 950; index += 1)
      server.logs.push(logAgo(Math.floor(index / 7) * 1_000, `entry ${index - (index % 3)}`));
    const { code, stdout } = await home.svc(['logs', '--all', '-o', 'jsonl'], {
      env: env(),
    });
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const times = lines.map((line) => (JSON.parse(line) as { created_at: string }).created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(lines.toSorted()).toEqual(server.logs.map((log) => JSON.stringify(log)).toSorted());
    expect(server.requests).toBeGreaterThan(12);
  });

  it('writes CSV as the service sent it, and for a spreadsheet with --excel-safe', async () => {
    for (const message of ['=1+1', '-2', 'plain']) server.logs.push(logAgo(1_000, message));
    expect((await csv('-o', 'csv')).stdout.split('\n').toSorted()).toEqual(['', '-2', '=1+1', 'message', 'plain']);
    expect((await csv('-o', 'csv', '--excel-safe')).stdout.split('\n').toSorted()).toEqual([
      '',
      "'-2",
      "'=1+1",
      'message',
      'plain',
    ]);
    expect((await csv('--excel-safe')).code).toBe(2);
  });

  it('R31 warns where its interval begins before retention, and ends with 14 with --strict', async () => {
    server.logs.push(logAgo(3_600_000, 'kept'));
    const argv = ['--all', '-o', 'jsonl', '--quiet', '--since', '30h'];
    const loose = await csv(...argv);
    expect(loose).toMatchObject({ code: 0, stdout: '{"message":"kept"}\n' });
    expect(loose.stderr).toMatch(/^warning: entries may be missing from \S+Z to \S+Z: older than .*\n$/);
    expect((await csv(...argv, '--strict')).code).toBe(14);
    expect(await csv(...argv, '--strict', '--retention', '48h')).toMatchObject({ code: 0, stderr: '' });
    expect(await csv('--all', '-o', 'jsonl', '--quiet', '--since', '23h', '--strict')).toMatchObject({
      code: 0,
    });
  });

  it('warns of an unknown type or operation, suggests the nearest, and makes no more requests', async () => {
    server.logs.push(logAgo(60_000, 'one', { operation: 'tokenize' }));
    const quiet = ['-o', 'jsonl', '--quiet'];
    expect(await csv(...quiet, '--operation', 'craete', '--operation', 'tokenize')).toMatchObject({
      code: 0,
      stderr: 'warning: unknown operation "craete": did you mean create?\n',
    });
    const secret = 'k3y'.repeat(12);
    expect((await csv(...quiet, '--operation', secret)).stderr).toMatch(/^warning: unknown operation \(not shown/);
    server.logs.length = 0;
    expect((await csv(...quiet, '--entity-type', 'crad')).stderr).toBe(
      'warning: unknown entity type "crad": did you mean card?\n',
    );
    expect(await csv(...quiet, '--entity-type', 'card', '--operation', 'read')).toMatchObject({ stderr: '' });
    expect(server.requests).toBe(4);
  });
});
