// Measures how long a search takes before it opens the first file of entries, in an archive with the records of a year,
// beside an archive with a single record. Each commit overlaps with 1,500 entries.
//   npm run bench records [records] [runs]      ARCHIVE=<dir> keeps the archive there, and reuses one it finds
// Node 20 runs no TypeScript, so the writer is bundled into a temporary directory.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const START = Date.UTC(2025, 0, 1);
const YEAR = 365 * 86_400_000;
const OVERLAP = 1_500;
const root = fileURLToPath(new URL('..', import.meta.url));
const ARCHIVES = join(root, 'src/logs/archive');
const STORES = join(root, 'src/client/store');
const TENANT = '0b2f3c1a-5d1e-4c53-9d3e-000000000001';
const records = Number(process.argv[2] ?? 3_650);
const runs = Number(process.argv[3] ?? 5);
const ENTRY = `
  import { DirectoryStore } from '${STORES}/directory-store.ts';
  import { beginArchive } from '${ARCHIVES}/manifest.ts';
  import { ARCHIVE } from '${ARCHIVES}/records/record.ts';
  import { ArchiveWriter } from '${ARCHIVES}/writer.ts';
  export async function build(top, commits) {
    const clock = { now: Date.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
    const store = new DirectoryStore(top, { pid: process.pid, isAlive: () => true, clock, signal: new AbortController().signal }, ARCHIVE);
    await store.lock(async () => {
      const position = { settled: ${START}, readTo: ${START}, newest: undefined, passed: [] };
      const subject = { service: 'https://vault.example', tenantId: '${TENANT}' };
      const first = await beginArchive(store, subject, { position, since: ${START}, now: ${START} });
      const writer = await ArchiveWriter.open(store, first, { tenantId: '${TENANT}', now: () => ${START} });
      for (const { logs, position } of commits) {
        await writer.add(logs);
        await writer.commit(position);
      }
    });
  }`;
const launcher = join(root, 'bin/svc.js');
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  const { build } = await bundled();
  const [few, many] = [join(home, 'few'), process.env.ARCHIVE ?? join(home, 'many')];
  await build(few, commits(1));
  if (!existsSync(many)) await build(many, commits(records));
  const env = plainEnvironment(home);
  const search = async (at) => runNode([launcher, 'logs', 'search', at, '--since', '2026-01-02'], env);
  const taken = await inTurns(runs, { few: () => search(few), many: () => search(many) });
  report('records', `a search in an archive of ${records} records, ${runs} runs in turns`, rowsFrom(taken, rowsOf));
} finally {
  rmSync(home, { recursive: true, force: true });
}

function rowsOf({ few, many: whole }) {
  return [
    { name: 'archive of one record', figure: few.ms / 1000, unit: 's' },
    { name: `archive of ${records} records`, figure: whole.ms / 1000, unit: 's' },
    { name: 'beyond that of one record', figure: (whole.busy - few.busy) / 1000, unit: 's, processor time' },
    { name: 'memory', figure: whole.mb, unit: 'MB' },
  ];
}

function* commits(count) {
  const step = Math.floor(YEAR / count);
  for (let at = 0; at < count; at += 1) {
    const [from, to] = [START + at * step, START + (at + 1) * step];
    const passed = Array.from({ length: OVERLAP }, (_, index) => {
      const key = createHash('sha256').update(`${at} ${index}`).digest('base64url').slice(0, 43);
      return [key, to - index * 1_000, 1];
    });
    const log = { tenant_id: TENANT, entity_type: 'token', message: 'did', created_at: new Date(from).toISOString() };
    yield { logs: [log], position: { settled: to - OVERLAP * 1_000, readTo: to, newest: from, passed } };
  }
}

async function bundled() {
  const entry = join(home, 'entry.ts');
  const build = await rolldown({
    input: entry,
    platform: 'node',
    cwd: root,
    plugins: [
      {
        name: 'entry',
        load: (id) => (id === entry ? ENTRY : undefined),
        resolveId: (id) => (id === entry ? id : undefined),
      },
    ],
  });
  const file = join(home, 'build.mjs');
  await build.write({ dir: home, entryFileNames: 'build.mjs', format: 'esm' });
  await build.close();
  return import(pathToFileURL(file).href);
}
