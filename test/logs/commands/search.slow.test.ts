import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from '../archive/build.ts';
import { logAgo, messagesIn, startLogServer } from './log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;

const EVEN = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const ODD = 'b1a0f1a3-0d2f-4f7e-9d1c-0a4f6c7f2f11';

function log(at: number, operation: string, message: string): Log {
  return {
    tenant_id: TENANT,
    actor_id: at % 2 === 0 ? EVEN : ODD,
    entity_type: 'card',
    entity_id: `${at}`,
    operation,
    message,
    created_at: new Date(START + at).toISOString(),
  };
}

function archive() {
  return buildArchive(START, [
    { to: START + HOUR, entries: [log(0, 'create', 'made one'), log(1, 'read', 'read one')] },
    { to: START + 2 * HOUR, gap: true },
    { to: START + 3 * HOUR, entries: [log(2 * HOUR, 'delete', 'gone')], late: [log(2, 'read', 'read two')] },
  ]);
}

function search(argv: readonly string[]) {
  return svcHere(['logs', 'search', ...argv], { clock: new FakeClock({ start: START + 4 * HOUR }) });
}

describe('svc logs search', () => {
  it('svc logs search finds entries in order of time, without a key and without a service', async () => {
    const { top } = await archive();
    const { code, stdout, stderr } = await search([top]);
    expect([code, messagesIn(stdout)]).toEqual([0, ['made one', 'read one', 'read two', 'gone']]);
    expect(stderr).toContain('4 entries found; 4 read, in 3 of 3 segments');
  });

  it.each([
    [
      ['--operation', 'read', '--operation', 'delete'],
      ['read one', 'read two', 'gone'],
    ],
    [['--actor', ODD], ['read one']],
    [['--actor', ODD.toUpperCase()], ['read one']],
    [['--actor', ODD.slice(0, 6)], ['read one']],
    [['--grep', '^read t'], ['read two']],
    [['--entity-type', 'card', '--entity-id', '0'], ['made one']],
    [['--entity-id', '0'], ['made one']],
    [['--entity-type', 'bank'], []],
    [['--exclude-operation', 'read', '--exclude-operation', 'delete'], ['made one']],
    [['--exclude-entity-type', 'card'], []],
    [['--since', '3h'], ['gone']],
    [
      ['--until', '2026-01-05T20:00:00.002Z'],
      ['made one', 'read one'],
    ],
    [
      ['--limit', '3'],
      ['made one', 'read one', 'read two'],
    ],
  ])('svc logs search accepts %j', async (argv, found) => {
    const { top } = await archive();
    const { code, stdout } = await search([top, ...argv]);
    expect([code, messagesIn(stdout)]).toEqual([0, found]);
  });

  it('svc logs search reports what the archive does not cover', async () => {
    const { top } = await archive();
    const { stderr } = await search([top, '--since', '2025-12-31']);
    expect(stderr).toContain('missing from 2026-01-05 21:00:00Z to 2026-01-05 22:00:00Z');
    expect(stderr).toContain('the archive begins at 2026-01-05 20:00:00Z');
    expect(stderr).toContain('the archive ends at 2026-01-05 23:00:00Z; --live adds what is newer');
    const within = await search([top, '--until', '2026-01-05T21:00:00Z']);
    expect(within.stderr).not.toContain('missing');
    expect(within.stderr).not.toContain('--live');
  });

  it('svc logs search exits with 12 and names the changed file', async () => {
    const { top } = await archive();
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    const file = path.join(top, segment);
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, bytes.fill(1, 4, 8));
    const { code, stderr } = await search([top]);
    expect([code, errorIn({ stderr })['path']]).toEqual([12, segment]);
  });

  const NO_ARCHIVE = 'To search the service, or to make an archive first:';

  it.each([
    ['no archive', (top: string) => fs.rmSync(top, { recursive: true }), 5, NO_ARCHIVE],
    [
      'no manifest',
      (top: string) => fs.rmSync(path.join(top, '_manifest'), { recursive: true }),
      12,
      'Restore _manifest/ from a backup: without it, changes to tenant=',
    ],
    [
      'a damaged manifest',
      (top: string) => fs.truncateSync(path.join(top, '_manifest/00000001.json'), 9),
      12,
      'Nothing was overwritten. Verify the archive to see all problems; restore the file from a backup, and archive to',
    ],
    ['a newer manifest', newer, 3, 'Update svc on this machine.'],
    ['a file in place of a directory', (top: string) => replaceByFile(top), 5, NO_ARCHIVE],
  ])('svc logs search says what to do where there is %s', async (_what, harm, exitCode, hint) => {
    const { top } = await archive();
    harm(top);
    const { code, stdout, stderr } = await search([top]);
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(errorIn({ stderr })['hint']).toContain(hint);
  });

  it('svc logs search finds nothing in an archive without entries', async () => {
    const { top } = await buildArchive(START, []);
    const { code, stdout, stderr } = await search([top]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('0 entries found');
  });

  it('svc logs search --live refuses to search another service than the archived one', async () => {
    const { top } = await archive();
    const { code, stderr } = await search([top, '--live', '--sandbox']);
    expect([code, errorIn({ stderr })['code']]).toEqual([3, 'config']);
  });
});

describe('svc logs search --live', () => {
  it('R28, R31: svc logs search --live returns late and equal entries once each, and reports what was lost in between', async () => {
    const server = await startLogServer();
    server.tenant = TENANT;
    const twin = logAgo(60_000, 'twin', { tenant_id: TENANT });
    server.logs.push(logAgo(3_600_000, 'old', { tenant_id: TENANT }), twin, twin);
    const cwd = temporaryDirectory();
    const here = { baseUrl: new URL(server.url), cwd, clock: systemClock };
    expect((await svcHere(['logs', 'archive', 'audit'], here)).code).toBe(0);
    server.logs.push(twin, logAgo(90_000, 'late', { tenant_id: TENANT }));
    const live = await svcHere(['logs', 'search', 'audit', '--live', '--strict'], here);
    expect(live.code).toBe(0);
    expect(live.stderr).not.toContain('missing');
    expect(messagesIn(live.stdout)).toEqual(['old', 'late', 'twin', 'twin', 'twin']);
    server.aheadMs = 30 * HOUR;
    server.logs.push(logAgo(-30 * HOUR + 5_000, 'new', { tenant_id: TENANT }));
    server.logs.splice(0, 1);
    const later = await svcHere(['logs', 'search', 'audit', '--live', '--strict', '--grep', 'old|new'], here);
    expect(messagesIn(later.stdout)).toEqual(['old', 'new']);
    expect(later.stderr).toContain('entries may be missing from');
    expect(later.code).toBe(14);
    server.tenant = 'another';
    const foreign = await svcHere(['logs', 'search', 'audit', '--live'], here);
    expect([foreign.code, foreign.stdout]).toEqual([3, '']);
    server.tenant = TENANT;
    server.refusal = 503;
    const down = await svcHere(['logs', 'search', 'audit', '--live'], { ...here, clock: new FakeClock() });
    expect(down.code).toBe(8);
  });
});

describe('svc logs history', () => {
  it('svc logs history shows what the service still has of one entity, oldest first, and states how far back that is', async () => {
    const { server, svc } = await world();
    server.logs.push(about('one', 60_000, 'last'), about('one', HOUR, 'first'), about('two', 90_000, 'other'));
    const { code, stdout, stderr } = await svc('history', 'one');
    expect([code, messagesIn(stdout)]).toEqual([0, ['first', 'last']]);
    expect(stderr).toContain('from the last 1d; --archive adds what is older');
    expect((await svc('history', 'three')).stderr).toContain('no log entries');
  });

  it('R28: svc logs history joins an archive and the service in one order, with late and equal entries once each', async () => {
    const { server, cwd, svc } = await world();
    const twin = about('one', 60_000, 'twin');
    server.logs.push(about('one', HOUR, 'old'), about('two', HOUR, 'other'), twin, twin);
    await svc('archive', 'audit');
    server.logs.shift();
    server.logs.push(twin, about('one', 90_000, 'late'));
    const { code, stdout } = await svc('history', 'one', '--archive', 'audit');
    expect([code, messagesIn(stdout)]).toEqual([0, ['old', 'late', 'twin', 'twin', 'twin']]);
    const index = filesIn(path.join(cwd, 'audit')).find((file) => file.startsWith('_index/')) ?? '';
    fs.truncateSync(path.join(cwd, 'audit', index), 5);
    const damaged = await svc('history', 'one', '--archive', 'audit');
    expect([damaged.code, damaged.stdout]).toEqual([0, stdout]);
  });

  it('R69: svc logs history finds an uppercase id as the service does, also in the archive', async () => {
    const { server, svc } = await world();
    server.logs.push(about('3f2c-ab', HOUR, 'old'), about('other', HOUR, 'other'));
    await svc('archive', 'audit');
    server.logs.length = 0;
    expect(messagesIn((await svc('history', '3F2C-AB', '--archive', 'audit')).stdout)).toEqual(['old']);
    expect(messagesIn((await svc('search', 'audit', '--entity-id', '3F2C-AB')).stdout)).toEqual(['old']);
  });

  it('svc logs history warns of no gap within --retention, also beyond an archive', async () => {
    const { server, svc } = await world();
    server.aheadMs = -50 * HOUR;
    server.logs.push(about('one', 51 * HOUR, 'archived'));
    await svc('archive', 'audit');
    server.aheadMs = 0;
    server.logs.push(about('one', HOUR, 'since then'));
    const { stdout, stderr } = await svc('history', 'one', '--archive', 'audit', '--retention', '70h');
    expect(messagesIn(stdout)).toEqual(['archived', 'since then']);
    expect(stderr).not.toContain('may be missing');
  });

  it('svc logs history prints as svc logs does, and exits with 5 where there is no archive', async () => {
    const { server, svc } = await world();
    server.logs.push(about('one', 60_000, 'last'));
    const { stdout } = await svc('history', 'one', '-o', 'csv', '--fields', 'entity_id,message');
    expect(stdout).toBe('entity_id,message\none,last\n');
    expect((await svc('history', 'one', '--archive', 'nowhere')).code).toBe(5);
  });
});

async function world() {
  const server = await startLogServer();
  server.tenant = TENANT;
  const cwd = temporaryDirectory();
  const here = { baseUrl: new URL(server.url), cwd, clock: systemClock };
  const svc = (...argv: string[]) => svcHere(['logs', ...argv], here);
  return { server, cwd, svc };
}

function about(id: string, msAgo: number, message: string): Log {
  return logAgo(msAgo, message, { tenant_id: TENANT, entity_id: id });
}

function newer(top: string): void {
  const record = path.join(top, '_manifest/00000000.json');
  fs.writeFileSync(record, fs.readFileSync(record, 'utf8').replace('"version":2', '"version":9'));
}

function replaceByFile(top: string): void {
  fs.rmSync(top, { recursive: true });
  fs.writeFileSync(top, 'x');
}
