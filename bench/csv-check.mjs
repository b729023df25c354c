// Measures the check of a request file, beside csv-parse and beside only reading the file.
//   npm run bench csv-check [megabytes] [runs] [uuid|words|quoted]
// Node 20 runs no TypeScript, so the check is bundled into a temporary directory first. Each measurement runs in a
// separate process, so that its memory is separate too. Runs are interleaved, and the median counts.
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const megabytes = Number(process.argv[2] ?? 200);
const runs = Number(process.argv[3] ?? 3);
const kind = process.argv[4] ?? 'uuid';
// Each script reads `source`, the file in argv[2], and sets `bytes`.
const MEASURED = {
  read: `for await (const chunk of source) bytes += chunk.length;`,
  check: `const { checkRequestFile, fileSource, openOverflowFile } = await import(process.argv[3]);
    source.destroy();
    const system = { pid: process.pid, isAlive: () => true, env: { SVC_STATE_DIR: process.argv[6] } };
    const openOverflow = () => openOverflowFile({ system, onClose() {} });
    const check = await checkRequestFile((await fileSource(process.argv[2])).open(), { openOverflow });
    if (!check.ok) throw new Error(JSON.stringify(check.problems));
    bytes = check.bytes;`,
  'csv-parse': `const { parse } = await import(process.argv[4]);
    for await (const cells of source.pipe(parse())) if (cells.length !== 4) throw new Error('columns');
    bytes = (await import('node:fs')).statSync(process.argv[2]).size;`,
};

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const file = join(directory, 'requests.csv');
try {
  await bundle();
  generate();
  report('csv-check', `check of ${megabytes} MB (${kind}), ${runs} runs in turns`, rowsFrom(await measure(), rowsOf));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const entry = join(directory, 'entry.ts');
  const names = ['au/request/check-request-file', 'au/request/spool', 'client/transfer/source'];
  writeFileSync(
    entry,
    names.map((name) => `export * from ${JSON.stringify(join(root, `src/${name}.ts`))};`).join('\n'),
  );
  const build = await rolldown({ input: entry, platform: 'node', cwd: root, logLevel: 'silent' });
  await build.write({ file: join(directory, 'bundle.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
}

function generate() {
  const output = openSync(file, 'w');
  let written = writeSync(output, 'token,expiration_year,expiration_month,merchant_id\n');
  while (written < megabytes * 1e6) written += writeSync(output, Array.from({ length: 20_000 }, row).join(''));
  closeSync(output);
}

function row(_, at) {
  const date = `${20 + (at % 10)},${String((at % 12) + 1).padStart(2, '0')}`;
  if (kind === 'quoted') return `"${randomUUID()}",${date},"Shop, Ltd"\n`;
  if (kind === 'words') return `tok_${randomUUID().replaceAll('-', '').slice(0, 24)},${date},MERCHANT-${at % 7}\n`;
  return at % 3 === 0 ? `${randomUUID()},${date},SANDBOX\n` : `${randomUUID()},,,\n`;
}

async function measure() {
  const scripts = Object.entries(MEASURED).map(([name, code]) => [name, async () => measureOne(name, code)]);
  return inTurns(runs, Object.fromEntries(scripts));
}

/** Runs one script. Resolves to its seconds a MB, without the start of Node, and its peak memory in MB. */
async function measureOne(name, code) {
  const script = join(directory, `${name}.mjs`);
  const told = join(directory, 'seconds');
  writeFileSync(
    script,
    `import { createReadStream, writeFileSync } from 'node:fs';
    const source = createReadStream(process.argv[2], { highWaterMark: 1 << 20 });
    let bytes = 0;
    const start = performance.now();
    ${code}
    writeFileSync(process.argv[5], JSON.stringify({ seconds: (performance.now() - start) / 1000, bytes }));`,
  );
  const args = [script, file, join(directory, 'bundle.mjs'), import.meta.resolve('csv-parse'), told, directory];
  const { mb } = await runNode(args, plainEnvironment(directory));
  const { seconds, bytes } = JSON.parse(readFileSync(told, 'utf8'));
  return { seconds: seconds / (bytes / 1e6), mb };
}

function rowsOf(results) {
  const rows = Object.entries(results).flatMap(([name, { seconds, mb }]) => [
    { name, figure: 1 / seconds, unit: 'MB/s' },
    { name: `${name}: memory`, figure: mb, unit: 'MB' },
  ]);
  const { check, 'csv-parse': parse } = results;
  return [...rows, { name: 'check over csv-parse', figure: parse.seconds / check.seconds, unit: 'times as fast' }];
}
