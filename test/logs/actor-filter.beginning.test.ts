import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { buildArchive, TENANT } from './archive/build.ts';
import { logAgo, type LogServer, messagesIn, startLogServer } from './commands/log-server.ts';

const HOUR = 3_600_000;
const ACTOR = '18b1b8b3-f72e-4a86-aee3-7f01c4fb2237';
const OTHER = '9933bd02-c44c-4ccc-a48e-8b50c0175ffa';
const CARD = '3a04dacf-0000-4000-8000-000000000001';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT, entity_id: 'a', actor_id: ACTOR }));
});

/** Runs a command about the service's entries, or about an archive of them in place of the word `ARCHIVE`. */
async function svc(...argv: string[]) {
  const now = Date.now();
  // Each entry is in another segment, so that the index could skip it.
  const { top } = await buildArchive(
    now - HOUR,
    server.logs.map((log, at) => ({ to: now + at, entries: [log] })),
  );
  const words = argv.map((word) => (word === 'ARCHIVE' ? top : word));
  return svcHere(['logs', ...words], { baseUrl: new URL(server.url), clock: new FakeClock({ start: now }) });
}

describe('the beginning of the id of an actor', () => {
  it.each([
    ['list'],
    ['stats', '--since', '1h'],
    ['tail', '--since', '1h', '--idle-exit', '20s'],
    ['search', 'ARCHIVE'],
    ['stats', 'ARCHIVE'],
  ])('R78: the beginning that no entry read has ends svc logs %s with 2 and similar ids', async (...command) => {
    for (const [typed, near] of [
      ['18b1b8b4', [ACTOR]],
      ['12345678', []],
    ] as const) {
      const mistyped = await svc(...command, '--actor', typed, '-o', 'jsonl');
      expect([mistyped.code, errorIn(mistyped)]).toEqual([
        2,
        expect.objectContaining({
          message: `no entry read is by an actor whose id begins with ${typed}`,
          hint: expect.stringContaining(near.length === 0 ? 'give the whole id.' : `similar id: ${ACTOR}.`),
          near,
        }),
      ]);
    }
    const found = await svc(...command, '--actor', '18B1B8', '-o', 'jsonl');
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('18b1b8b3')]);
    server.logs.push(
      logAgo(50_000, 'spelled otherwise', { tenant_id: TENANT, entity_id: 'b', actor_id: OTHER.toUpperCase() }),
    );
    const capitals = await svc(...command, '--actor', OTHER.slice(0, 8), '-o', 'jsonl');
    expect([capitals.code, capitals.stdout]).toEqual([0, expect.stringMatching(/9933bd02/i)]);
  });

  it('R78: letters that are the name of an application and may begin an id are the name, unless nobody has it', async () => {
    const FACADE = 'facade01-c44c-4ccc-a48e-8b50c0175ffa';
    server.logs.push(logAgo(50_000, 'by name', { tenant_id: TENANT, entity_id: 'b', actor_id: OTHER }));
    server.logs.push(logAgo(40_000, 'by id', { tenant_id: TENANT, entity_id: 'c', actor_id: FACADE }));
    for (const [applications, message] of [
      [[{ id: OTHER, name: 'Facade' }], 'by name'],
      [[{ id: OTHER, name: 'Other' }], 'by id'],
      [500, 'by id'],
    ] as const) {
      server.onApplications = () => applications;
      for (const command of [['list'], ['search', 'ARCHIVE']]) {
        const { code, stdout, stderr } = await svc(...command, '--actor', 'facade', '-o', 'jsonl');
        expect([code, messagesIn(stdout)]).toEqual([0, [message]]);
        const warning =
          'warning: --actor facade is taken as the beginning of an id: the names of applications could not';
        expect(stderr.includes(warning)).toBe(applications === 500);
      }
    }
  });

  it.each([
    ['--actor', '18b1b8b3', '--exclude-operation', 'create'],
    ['--actor', '18b1b8b3', '--operation', 'delete'],
    ['--entity-id', '3a04dacf', '--operation', 'delete'],
    ['--entity-id', '3a04dacf', '--actor', OTHER],
  ])('R78: the beginning is no mistake where other filters hide the entries: %s %s %s %s', async (...filters) => {
    const more = { tenant_id: TENANT, entity_id: CARD };
    server.logs.push(logAgo(50_000, 'made', { ...more, actor_id: ACTOR }));
    server.logs.push(logAgo(40_000, 'gone', { ...more, entity_id: 'b', actor_id: OTHER, operation: 'delete' }));
    for (const command of [['list'], ['search', 'ARCHIVE']]) {
      const { code, stdout } = await svc(...command, ...filters);
      expect([code, stdout]).toEqual([0, '']);
    }
  });
});
