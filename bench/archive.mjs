// Measures search, stats and verify on a large archive (by default 2 million entries, 52 MB) beside DuckDB, which reads
// the same files, and zcat with grep. Each measurement is a whole command. `search` reads every file; `search by the index`
// reads only files that can contain the entity, and `search that makes the index` makes it first.
//   npm run bench archive [entries] [runs]      ARCHIVE=<dir> keeps the archive there, and reuses one it finds
// `svc logs archive` makes the archive from a log service on this machine.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idOf, startLogService } from './support/log-service.mjs';
import { inTurns, plainEnvironment, report, rowsFrom, runNode, runProgram } from './support/measure.mjs';

const HOUR = 3_600_000;
const self = fileURLToPath(import.meta.url);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));

if (process.argv[2] === 'sql') await query(process.argv[3]);
else await main(Number(process.argv[2] ?? 2_000_000), Number(process.argv[3] ?? 3));

async function main(entries, runs) {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    const archive = process.env.ARCHIVE ?? join(home, 'archive');
    const env = plainEnvironment(home);
    if (!existsSync(archive)) await build(archive, entries, env);
    const plain = join(home, 'plain');
    cpSync(archive, plain, { recursive: true, filter: (path) => !path.endsWith('_index') });
    const id = idOf(Math.floor(entries * 0.6));
    const taken = await measure({ archive, plain, home }, id, runs, env);
    const rows = rowsFrom(taken, (each) => rowsOf(each, entries));
    report('archive', `an archive of ${entries} entries, ${runs} runs in turns`, rows);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measure({ archive, plain, home }, id, runs, env) {
  const all = `read_json('${archive}/tenant=*/date=*/*.jsonl.gz', hive_partitioning = true, union_by_name = true)`;
  const files = readdirSync(archive, { recursive: true }).filter((path) => path.endsWith('.gz'));
  const svc = (...args) => runNode([launcher, 'logs', ...args], env);
  const sql = (text) => runProgram(process.execPath, [self, 'sql', text], env);
  const find = `zcat "$@" | LC_ALL=C grep -F ${id}`;
  const programs = {
    'DuckDB: one entity': () => sql(`SELECT * FROM ${all} WHERE entity_id = '${id}'`),
    'DuckDB: one group-by': () => sql(`SELECT date, entity_type, operation, count(*) FROM ${all} GROUP BY ALL`),
    'zcat with grep': () => runProgram('sh', ['-c', find, 'sh', ...files.map((path) => join(archive, path))], env),
    search: () => svc('search', archive, '--entity-id', id, '--full'),
    'search by the index': () => svc('search', archive, '--entity-id', id),
    'search that makes the index': () => {
      rmSync(join(home, '.cache'), { recursive: true, force: true });
      return svc('search', plain, '--entity-id', id);
    },
    stats: () => svc('stats', archive),
    verify: () => svc('verify', archive),
  };
  return inTurns(runs, programs);
}

function rowsOf(taken, entries) {
  const over = (name, other) => taken[name].ms / taken[other].ms;
  const busyOver = (name, other) => taken[name].busy / taken[other].busy;
  return [
    ...Object.entries(taken).map(([name, { ms }]) => ({ name, figure: ms / 1000, unit: 's' })),
    ...['search', 'stats', 'verify'].map((name) => ({ name: `${name}: memory`, figure: taken[name].mb, unit: 'MB' })),
    { name: 'search over DuckDB', figure: over('search by the index', 'DuckDB: one entity'), unit: 'times as long' },
    { name: 'stats over DuckDB', figure: over('stats', 'DuckDB: one group-by'), unit: 'times as long' },
    {
      name: 'search that makes the index over verify',
      figure: busyOver('search that makes the index', 'verify'),
      unit: 'times, processor time',
    },
    { name: 'verify, a million entries', figure: (taken.verify.busy / entries) * 1000, unit: 's, processor time' },
  ];
}

async function build(archive, entries, env) {
  const service = await startLogService({ entries, spanMs: 23 * HOUR, untilMs: Date.now() - HOUR / 4 });
  try {
    const key = { SVC_BASE_URL: service.url, SVC_MANAGEMENT_API_KEY: 'a-management-key', SVC_PACING: 'off' };
    await runNode([launcher, 'logs', 'archive', archive], { ...env, ...key });
  } finally {
    await service.close();
  }
}

/** Runs one query in DuckDB; offline. */
async function query(text) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(text);
  if (rows.currentRowCount === 0) throw new Error('nothing was found');
  connection.closeSync();
}
