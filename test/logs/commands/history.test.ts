import { beforeEach, expect, it } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';
import { type LogServer, startLogServer } from './log-server.ts';

const NOW = Date.UTC(2026, 2, 2, 6);
const HOUR = 3_600_000;
const CARD = '3a04dacf-0000-4000-8000-000000000001';
const PERSON = 'a20690bc-0000-4000-8000-000000000002';
const APPLICATION = '4707c78a-ef35-487e-a67c-cc101d1d4c49';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.aheadMs = NOW - Date.now();
  server.tenant = TENANT;
  server.logs.push(
    entry(3 * HOUR, { operation: 'create', actor_type: 'application', actor_id: APPLICATION }),
    entry(2 * HOUR, { operation: 'read', message: 'Card read <b>' }),
    entry(HOUR, { operation: 'delete' }),
  );
});

function entry(agoMs: number, more: Partial<Log>): Log {
  const created_at = new Date(NOW - agoMs).toISOString();
  const known = { tenant_id: TENANT, entity_type: 'card', entity_id: CARD, actor_type: 'user', actor_id: PERSON };
  return { ...known, created_at, ...more };
}

async function history(...argv: string[]) {
  return historyOf(CARD, ...argv);
}

async function historyOf(id: string, ...argv: string[]) {
  const { top } = await buildArchive(NOW - 9 * HOUR, [{ to: NOW - HOUR, entries: server.logs }]);
  const run = (env: Record<string, string>, service = {}) =>
    svcHere(['logs', 'history', id, ...argv], { ...service, clock: new FakeClock({ start: NOW }), cwd: top, env });
  return { top, withoutKey: () => run({ SVC_API_KEY: '' }), withKey: () => run({}, { baseUrl: new URL(server.url) }) };
}

it('svc logs history sums the entries up in a line, then shows times, operations and actors', async () => {
  const { withKey } = await history('-o', 'table');
  const { code, stdout } = await withKey();
  expect(code).toBe(0);
  expect(stdout.replaceAll(/ +$/gm, '')).toBe(
    [
      `card ${CARD}: 3 entries, created 2026-03-02 03:00:00Z by application 4707c78a, last deleted 2026-03-02 05:00:00Z by user a20690bc`,
      '',
      'CREATED               OPERATION  ACTOR                 ACTOR ID                              MESSAGE',
      `2026-03-02 03:00:00Z  create     application 4707c78a  ${APPLICATION}  -`,
      `2026-03-02 04:00:00Z  read       user a20690bc         ${PERSON}  Card read <b>`,
      `2026-03-02 05:00:00Z  delete     user a20690bc         ${PERSON}  -`,
      '',
    ].join('\n'),
  );
});

it('svc logs history names the types of an id that entries give several, and its last update without a deletion', async () => {
  server.logs.splice(1, 2, entry(HOUR, { operation: 'update', entity_type: 'token' }));
  const { stdout } = await (await history('-o', 'table')).withKey();
  expect(stdout).toContain(`card and token ${CARD}: 2 entries, created`);
  expect(stdout).toContain('last updated 2026-03-02 05:00:00Z by user a20690bc');
  expect(stdout).toMatch(/update +token +user a20690bc/);
});

it('svc logs history prints nothing above the rows for programs, and no line for an unknown id', async () => {
  const { stdout } = await (await history('--fields', 'operation')).withKey();
  expect(stdout).toBe('{"operation":"create"}\n{"operation":"read"}\n{"operation":"delete"}\n');
  server.logs.length = 0;
  const none = await (await history('-o', 'table')).withKey();
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no log entries') });
});

it('svc logs history reads an archive without a key, and says that newer entries need one', async () => {
  const { withoutKey } = await history('--archive', '.');
  const { code, stdout, stderr } = await withoutKey();
  expect([code, stdout.trim().split('\n').length]).toEqual([0, 3]);
  expect(stderr).toContain(
    "the archive ends at 2026-03-02 05:00:00Z; newer entries need a key, which 'svc login' stores",
  );
  const service = await history();
  expect(errorIn(await service.withoutKey())).toMatchObject({ exit_code: 3, next: 'svc login' });
});

it('svc logs history says that retention dropped older months, of which it shows nothing', async () => {
  const begin = Date.UTC(2025, 0, 1);
  const old = { ...entry(0, { operation: 'create' }), created_at: new Date(begin).toISOString() };
  const commits = [
    { to: begin + HOUR, entries: [old] },
    { to: NOW - HOUR, entries: server.logs },
  ];
  const { top } = await buildArchive(begin, commits, server.url);
  const run = (...argv: string[]) =>
    svcHere(argv, { baseUrl: new URL(server.url), clock: new FakeClock({ start: NOW }), cwd: top });
  const words = 'the archive begins at 2025-09-01 00:00:00Z (older months were dropped by retention)';
  const before = await run('logs', 'history', CARD, '--archive', '.');
  expect([before.code, before.stderr.includes('the archive begins')]).toEqual([0, false]);
  expect(await run('logs', 'archive', '.', '--keep', '6M', '--yes')).toMatchObject({ code: 0 });
  const after = await run('logs', 'history', CARD, '--archive', '.', '--strict');
  expect(after).toMatchObject({ code: 0, stderr: expect.stringContaining(words) });
});

it('svc logs history takes the beginning of an id, and says whose it is', async () => {
  const { withoutKey } = await historyOf('3a04dacf', '--archive', '.');
  const { code, stderr } = await withoutKey();
  expect([code, stderr]).toEqual([0, expect.stringContaining(`3a04dacf is ${CARD}`)]);
});

it('svc logs history names the command with the whole id when it gets too few digits of one', async () => {
  const { withoutKey } = await historyOf('3a04da', '--archive', '.');
  expect(errorIn(await withoutKey())).toMatchObject({ exit_code: 2, next: `svc logs history ${CARD} --archive .` });
});

it.each(['3', '3a0', '3A04DA', '3a04dac'])(
  'R78: svc logs history never says that an entity has no entries when it gets only %s of its id',
  async (typed) => {
    const archived = await (await historyOf(typed, '--archive', '.')).withoutKey();
    expect([archived.code, errorIn(archived)['hint']]).toEqual([
      2,
      expect.stringMatching(/^Give at least eight digits; ids that begin so: 3a04dacf-/),
    ]);
    // A service that filters by the id has no entry of its beginning.
    server.logs.length = 0;
    const service = await (await historyOf(typed)).withKey();
    expect([service.code, service.stdout, service.stderr.includes('no log entries'), errorIn(service)]).toEqual([
      2,
      '',
      false,
      expect.objectContaining({ hint: 'Give at least eight digits of an id, as tables show them, or the whole id.' }),
    ]);
  },
);

it('svc logs history says of a beginning that no entry has to read more of the log, in the words of every command', async () => {
  const hint =
    'An id as tables show it stands for an entity among the entries read: read more of the log, or give the whole id.';
  expect(errorIn(await (await historyOf('ffffffff')).withKey())['hint']).toBe(hint);
  expect(errorIn(await (await historyOf('ffffffff', '--archive', '.')).withoutKey())['hint']).toBe(hint);
});

it('svc logs history does not read the archive of another service alone when there is a key', async () => {
  const { withKey } = await history('--archive', '.');
  const result = await withKey();
  expect(errorIn(result)).toMatchObject({ exit_code: 3, message: expect.stringContaining('https://vault.example') });
  expect(result.stdout).toBe('');
});

it('R61: svc logs history and search warn of entries that are not as documented, and show them', async () => {
  server.logs.push({ ...entry(HOUR, { message: 'odd' }), operation: 5 } as unknown as Log);
  const { top, withKey } = await historyOf(CARD);
  const search = svcHere(['logs', 'search', top], { clock: new FakeClock({ start: NOW }) });
  const archive = svcHere(['logs', 'history', CARD, '--archive', top], { clock: new FakeClock({ start: NOW }) });
  for (const { code, stdout, stderr } of [await withKey(), await search, await archive])
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('odd'),
      expect.stringContaining('with fields of other types than documented: 1, kept as the service sent them'),
    ]);
});
