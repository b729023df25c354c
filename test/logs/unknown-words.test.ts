import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { buildArchive } from './archive/build.ts';
import { logAgo, type LogServer, startLogServer } from './commands/log-server.ts';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.logs.push(logAgo(60_000, 'made', { actor_type: 'user' }));
});

const svc = (...argv: string[]) =>
  svcHere(['logs', ...argv], { baseUrl: new URL(server.url), clock: new FakeClock({ start: Date.now() }) });

describe('the words of filters', () => {
  it.each([
    ['list', '--operation', 'deleted', 'delete'],
    ['stats', '--operation', 'deleted', 'delete'],
    ['list', '--exclude-operation', 'raed', 'read'],
    ['list', '--actor-type', 'users', 'user'],
    ['list', '--exclude-entity-type', 'tokn', 'token'],
    ['stats', '--exclude-entity-type', 'Token', 'token'],
  ])('R78: svc logs %s %s %s ends with 2 after the read, and asks whether %s is meant', async (command, ...words) => {
    const [option, typed, meant] = words;
    for (const format of ['jsonl', 'csv', 'table']) {
      const { code, stderr } = await svc(command, option, typed, '-o', format, '--since', '1h');
      expect([format, code, stderr]).toEqual([format, 2, expect.stringContaining(`Did you mean '${meant}'?`)]);
    }
  });

  it('R78: a mistyped type of actor ends a search and a count of an archive with 2, although no line has it', async () => {
    const now = Date.now();
    const { top } = await buildArchive(now - 3_600_000, [{ to: now, entries: server.logs }]);
    for (const command of [
      ['search', top],
      ['stats', top, '--grep', 'made'],
    ]) {
      const { code, stderr } = await svc(...command, '--actor-type', 'users', '-o', 'jsonl');
      expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean 'user'?")]);
    }
  });

  it('R78: a tail that ends by itself ends with 2 for a mistyped word, after the command that resumes it', async () => {
    const argv = ['tail', '--since', '1h', '--idle-exit', '20s', '--operation', 'deleted'];
    const { code, stderr } = await svc(...argv);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/resume with[^]*Did you mean 'delete'\?/)]);
  });

  it.each([
    ['--operation', 'tokenize', 'known: create, delete, read, update'],
    ['--actor-type', 'robot', 'known: user'],
  ])('R78: %s %s is near no known word, so a warning names those that are known', async (option, word, known) => {
    for (const command of ['list', 'stats']) {
      const { code, stderr } = await svc(command, option, word, '--since', '1h');
      expect([code, stderr]).toEqual([0, expect.stringContaining(known)]);
    }
  });

  it('R78: an operation that the documentation does not name and an entry has is no mistake', async () => {
    server.logs.push(logAgo(50_000, 'gone', { operation: 'deleted' }));
    const found = await svc('list', '--operation', 'deleted');
    expect([found.code, found.stderr.includes('unknown')]).toEqual([0, false]);
  });

  it('R78: an excluded type of entity that the documentation does not name and an entry has is no mistake', async () => {
    server.logs.push(logAgo(50_000, 'gone', { entity_type: 'tokens' }));
    const found = await svc('list', '--exclude-entity-type', 'tokens');
    expect([found.code, found.stderr.includes('unknown')]).toEqual([0, false]);
  });

  it.each([
    ['list', '--operation', 'delete', '--exclude-operation', 'delete'],
    ['tail', '--operation', 'delete', '--exclude-operation', 'delete', '--idle-exit', '20s'],
    ['stats', '--entity-type', 'card', '--exclude-entity-type', 'card', '--since', '1h'],
    ['search', 'audit', '--entity-type', 'card', '--exclude-entity-type', 'card'],
  ])('svc logs %s %s %s %s %s ends with 2 before any request: no entry can match', async (...argv) => {
    const refused = await svc(...argv);
    expect([refused.code, errorIn(refused)['message']]).toEqual([2, expect.stringContaining('so no entry can match')]);
    expect(server.requests).toBe(0);
  });

  it('R78: an actor type cannot be compared where no entry was read', async () => {
    server.logs.length = 0;
    const none = await svc('list', '--actor-type', 'users');
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('no entry to compare it with was read')]);
    expect(errorIn(await svc('list', '--operation', 'deleted'))).toMatchObject({ exit_code: 2 });
    expect(errorIn(await svc('list', '--entity-type', 'crad'))).toMatchObject({ exit_code: 2 });
  });
});
