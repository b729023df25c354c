import fs from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';
import { startLogServer } from './log-server.ts';

const START = Date.UTC(2026, 0, 5);
const DAY = 86_400_000;

/** Returns five entries, the first of which is about the entity with this id. */
function entries(from: number, id?: string): Log[] {
  return Array.from({ length: 5 }, (_, index) => ({
    tenant_id: TENANT,
    operation: 'read',
    entity_id: index === 0 ? id : undefined,
    created_at: new Date(from + index * 1000).toISOString(),
  }));
}

it('R78: svc logs search finds an entity by its id in any case, whatever the letters of the id are', async () => {
  const stored = 'Tok-AbC_1/2';
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: entries(START, stored) }]);
  for (const typed of [stored, stored.toLowerCase(), stored.toUpperCase(), 'tok-ABC_1/2']) {
    const argv = ['logs', 'search', top, '--entity-id', typed];
    const { code, stdout } = await svcHere(argv, { clock: new FakeClock({ start: START + DAY }) });
    expect([typed, code, stdout.split('\n').length]).toEqual([typed, 0, 2]);
  }
});

it('svc logs search --limit counts only the segments and entries that it read', async () => {
  const { top } = await buildArchive(START, [
    { to: START + DAY, entries: entries(START) },
    { to: START + 2 * DAY, entries: entries(START + DAY) },
  ]);
  const search = (...argv: string[]) =>
    svcHere(['logs', 'search', top, ...argv], { clock: new FakeClock({ start: START + 2 * DAY }) });
  expect((await search('--limit', '3')).stderr).toContain('3 entries found; 5 read, in 1 of 2 segments\n');
  expect((await search()).stderr).toContain('10 entries found; 10 read, in 2 of 2 segments\n');
});

/** A service whose clock shows `now`, with five entries ten minutes old, and an archive of it that ends an hour ago. */
async function liveArchive(now: number) {
  const server = await startLogServer();
  server.aheadMs = now - Date.now();
  server.tenant = TENANT;
  server.logs.push(...entries(now - 600_000));
  const { top } = await buildArchive(now - 7_200_000, [{ to: now - 3_600_000 }], new URL(server.url).origin);
  return (aheadMs: number, ...argv: string[]) =>
    svcHere(['logs', 'search', top, '--live', ...argv], {
      baseUrl: new URL(server.url),
      clock: new FakeClock({ start: now + aheadMs }),
    });
}

it('svc logs search --live also says how many entries it read from the service', async () => {
  const search = await liveArchive(START + DAY);
  const { code, stderr } = await search(0);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('5 entries found; 0 read, in 0 of 0 segments, and 5 from the service\n'),
  ]);
});

it.each([
  ['a day ahead', DAY],
  ['a day behind', -DAY],
  ["as the service's", 0],
])(
  "R25: with this machine's clock %s, relative times of svc logs search --live count from the service's time",
  async (_, aheadMs) => {
    const search = await liveArchive(START + DAY);
    const { stderr } = await search(aheadMs, '--since', '15m', '--until', '5m');
    expect(stderr).toContain('5 entries found; ');
    const late = await search(aheadMs, '--since', '5m');
    expect(late.stderr).toContain('0 entries found; ');
    const ahead = await search(aheadMs, '--since', new Date(START + DAY + 3_600_000).toISOString());
    expect([ahead.code, ahead.stderr]).toEqual([2, expect.stringContaining("after the service's time")]);
  },
);

it.each([
  ['search', []],
  ['stats', ['--grep', 'x']],
  ['review', ['--access', '--since', '2026-01-05']],
])(
  'svc logs %s that retention overtakes is no alarm of a missing file, and succeeds when it is run again',
  async (name, more) => {
    const end = START + 90 * DAY;
    const { top, store, links } = await buildArchive(START, [
      { to: end, entries: [...entries(START), ...entries(end - DAY)] },
    ]);
    const read = vi.spyOn(DirectoryStore.prototype, 'stream').mockImplementationOnce(async function* (file) {
      await store.lock(async () => {
        const last = links.at(-1);
        if (last === undefined) throw new Error('nothing was archived');
        const writer = await ArchiveWriter.open(store, last, { tenantId: TENANT, now: () => end });
        await new Retention(1, 'root@vault').apply(writer, { service: end, machine: end });
      });
      yield* store.stream(file);
    });
    const run = () => svcHere(['logs', name, top, ...more], { clock: new FakeClock({ start: end }) });
    const overtaken = await run();
    read.mockRestore();
    expect([overtaken.code, overtaken.stderr]).toEqual([14, expect.stringContaining('retention dropped months while')]);
    expect((await run()).code).toBe(0);
    fs.rmSync(path.join(top, `tenant=${TENANT}`), { recursive: true });
    expect((await run()).code).toBe(12);
  },
);

it.each([
  ['ends before now', START + 2 * DAY, START + DAY],
  ['ends after now', START, START + DAY],
  ['covers no time yet', START, START],
])(
  'svc logs search --strict for a time to come in an archive that %s does not advise to update it',
  async (_, now, end) => {
    const { top } = await buildArchive(START, end === START ? [] : [{ to: end, entries: entries(START) }]);
    const since = new Date(START + 9 * DAY).toISOString();
    const run = await svcHere(['logs', 'search', top, '--strict', '--since', since], {
      clock: new FakeClock({ start: now }),
    });
    ended(run, 14, { error: { next: `svc logs verify ${top} --manifest-only` }, unsaid: 'adds what is newer' });
  },
);

it.each([[[]], [['--card-numbers']]])(
  'svc logs search 403 %j where no archive is says what it searches, and names the search of the service',
  async (more) => {
    const run = await svcHere(['logs', 'search', '403', ...more]);
    expect(run.code).toBe(5);
    expect(errorIn(run)).toMatchObject({
      message: expect.stringContaining('this command searches an archive'),
      next: 'svc logs list --all --grep <text>',
      alternatives: ['svc logs archive <dir>'],
    });
  },
);
