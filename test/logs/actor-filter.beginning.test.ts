import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { buildArchive, TENANT } from './archive/build.ts';
import { logAgo, type LogServer, startLogServer } from './commands/log-server.ts';

const HOUR = 3_600_000;
const ACTOR = '18b1b8b3-f72e-4a86-aee3-7f01c4fb2237';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  onTestFinished(() => server.close());
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT, entity_id: 'a', actor_id: ACTOR }));
});

/** Runs a command about the service's entries, or about an archive of them in place of the word `ARCHIVE`. */
async function svc(...argv: string[]) {
  const now = Date.now();
  const { top } = await buildArchive(now - HOUR, [{ to: now, entries: server.logs }]);
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
  });

  it('R78: the beginning is no mistake where other filters hide the entries of the actor', async () => {
    for (const command of [['list'], ['search', 'ARCHIVE']]) {
      const { code, stdout } = await svc(...command, '--actor', '18b1b8b3', '--exclude-operation', 'create');
      expect([code, stdout]).toEqual([0, '']);
    }
  });
});
