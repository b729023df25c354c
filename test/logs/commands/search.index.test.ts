import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readManifest } from '../../../src/logs/archive/manifest.ts';
import { IndexBuilder, indexPath, keyOf } from '../../../src/logs/archive/segment-index.ts';
import { FakeClock } from '../../support/clock.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';
import { logAgo, startLogServer } from './log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 0, 5);
const DAY = 86_400_000;
const ID = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

/** An archive of one entry about `ID`. */
async function archive() {
  const entry = { tenant_id: TENANT, entity_id: ID, operation: 'read', created_at: new Date(START).toISOString() };
  const { top, store } = await buildArchive(START, [{ to: START + DAY, entries: [entry] }]);
  const home = temporaryDirectory();
  const svc = (...argv: string[]) => svcHere(['logs', ...argv], { clock: new FakeClock({ start: START + DAY }), home });
  const [segment] = (await readManifest(store)).segments;
  if (segment === undefined) throw new Error('nothing was archived');
  return { top, home, svc, segment };
}

it('svc logs search and history say that nothing found rests on an index, and --full reads all', async () => {
  const { top, svc } = await archive();
  for (const command of [
    ['search', top, '--entity-id', OTHER],
    ['history', OTHER, '--archive', top],
  ]) {
    const quick = await svc(...command);
    expect([quick.code, quick.stdout, quick.stderr]).toEqual([
      0,
      '',
      expect.stringContaining('0 entries found; 0 read, in 0 of 1 segment; searched: index, --full reads all\n'),
    ]);
    const full = await svc(...command, '--full');
    expect(full.stderr).toContain('0 entries found; 1 read, in 1 of 1 segment\n');
    expect(full.stderr).not.toContain('searched: index');
  }
});

it('R69: svc logs verify warns of an index that hides an entry, which svc logs search --full finds', async () => {
  const { top, svc, segment } = await archive();
  const builder = new IndexBuilder();
  builder.add(keyOf(OTHER), undefined);
  builder.endColumn(new Uint8Array(segment.bytes - 20));
  fs.writeFileSync(path.join(top, indexPath(segment.path)), builder.finish(segment.sha256));
  expect((await svc('search', top, '--entity-id', ID)).stderr).toContain('searched: index');
  expect((await svc('search', top, '--entity-id', ID, '--full')).stdout).toContain(ID);
  const { code, stderr } = await svc('verify', top);
  expect([code, stderr]).toEqual([
    0,
    'warning: the index of 1 segment does not fit the entries: search with --full, or remove _index/\n',
  ]);
});

it('R69: svc logs verify of a bucket also names the cache, to which a search copied the index', async () => {
  const [server, bucket] = [await startLogServer(), await BucketServer.start()];
  server.tenant = TENANT;
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT, entity_id: ID }));
  const clock = new FakeClock({ start: Date.now() });
  const place = { baseUrl: new URL(server.url), home: temporaryDirectory(), env: bucket.environment, clock };
  succeeded(await svcHere(['logs', 'archive', 's3://logs/audit'], place));
  const index = bucket.keys().find((key) => key.endsWith('.idx')) ?? 'none';
  bucket.put(index, Buffer.from('damaged'));
  const { stderr } = succeeded(await svcHere(['logs', 'verify', 's3://logs/audit'], place));
  expect(stderr).toContain('or remove _index/ and the cache directory of each machine that searches it\n');
});

it('svc logs search makes a missing index in the cache, which svc reset removes', async () => {
  const { top, home, svc } = await archive();
  fs.rmSync(path.join(top, '_index'), { recursive: true });
  expect((await svc('search', top, '--entity-id', OTHER)).stderr).toContain('searched: index');
  expect(fs.existsSync(path.join(top, '_index'))).toBe(false);
  expect(indexesIn(home)).toHaveLength(1);
  expect((await svcHere(['reset', '--yes'], { home })).code).toBe(0);
  expect(indexesIn(home)).toEqual([]);
});

it('svc logs history refuses --full without an archive', async () => {
  const { svc } = await archive();
  expect(errorIn(await svc('history', ID, '--full'))).toMatchObject({
    exit_code: 2,
    message: '--full is about an archive',
  });
});

function indexesIn(home: string): string[] {
  return fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.idx'));
}
