// What the check of a request file costs beside csv-parse and beside only reading the file.
//   node bench/csv-check.mjs [megabytes] [runs] [uuid|words|quoted]
// Node 20 runs no TypeScript, so the check is bundled into a temporary directory first. Each measurement is a process
// of its own, so that its memory is its own too; runs are interleaved and the median counts.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const megabytes = Number(process.argv[2] ?? 200);
const runs = Number(process.argv[3] ?? 3);
const kind = process.argv[4] ?? 'uuid';
// Each body reads `source`, the file of argv[1], and sets `bytes`.
const MEASURED = {
  read: `for await (const chunk of source) bytes += chunk.length;`,
  check: `const { checkRequestFile } = await import(process.argv[2]);
    const check = await checkRequestFile(source);
    if (!check.ok) throw new Error(JSON.stringify(check.problems));
    bytes = check.bytes;`,
  'csv-parse': `const { parse } = await import(process.argv[3]);
    for await (const cells of source.pipe(parse())) if (cells.length !== 4) throw new Error('columns');
    bytes = (await import('node:fs')).statSync(process.argv[1]).size;`,
};

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  await bundle();
  const file = join(directory, 'requests.csv');
  generate(file);
  report(measure(file));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const build = await rolldown({
    input: join(root, 'src/csv/check-request-file.ts'),
    platform: 'node',
    cwd: root,
  });
  await build.write({ file: join(directory, 'check.mjs'), format: 'esm' });
  await build.close();
}

function generate(file) {
  const output = openSync(file, 'w');
  let written = writeSync(output, 'token,expiration_year,expiration_month,merchant_id\n');
  while (written < megabytes * 1e6)
    written += writeSync(output, Array.from({ length: 20_000 }, row).join(''));
  closeSync(output);
}

function row(_, at) {
  const date = `${20 + (at % 10)},${String((at % 12) + 1).padStart(2, '0')}`;
  if (kind === 'quoted') return `"${randomUUID()}",${date},"Shop, Ltd"\n`;
  if (kind === 'words')
    return `tok_${randomUUID().replaceAll('-', '').slice(0, 24)},${date},MERCHANT-${at % 7}\n`;
  return at % 3 === 0 ? `${randomUUID()},${date},SANDBOX\n` : `${randomUUID()},,,\n`;
}

function measure(file) {
  const results = Object.fromEntries(Object.keys(MEASURED).map((name) => [name, []]));
  for (let run = 0; run < runs; run += 1)
    for (const [name, code] of Object.entries(MEASURED)) results[name].push(measureOne(file, code));
  return results;
}

function measureOne(file, code) {
  const script = `const { createReadStream } = await import('node:fs');
    const source = createReadStream(process.argv[1], { highWaterMark: 1 << 20 });
    let bytes = 0;
    const start = performance.now();
    ${code}
    const seconds = (performance.now() - start) / 1000;
    console.log(JSON.stringify({ speed: bytes / 1e6 / seconds, rss: process.resourceUsage().maxRSS / 1024 }));`;
  const parser = import.meta.resolve('csv-parse');
  const bundle = join(directory, 'check.mjs');
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script, file, bundle, parser]);
  if (child.status !== 0) throw new Error(child.stderr.toString());
  return JSON.parse(child.stdout.toString());
}

function report(results) {
  const speeds = Object.fromEntries(
    Object.entries(results).map(([name, all]) => [name, median(all.map((one) => one.speed))]),
  );
  console.log(`request file of ${megabytes} MB (${kind}), median of ${runs} runs, Node ${process.version}`);
  for (const [name, all] of Object.entries(results)) {
    const ratio = speeds[name] / speeds['csv-parse'];
    const rss = median(all.map((one) => one.rss));
    console.log(
      `  ${name.padEnd(10)} ${speeds[name].toFixed(0).padStart(6)} MB/s  ${ratio.toFixed(1).padStart(5)} × csv-parse  ${rss.toFixed(0).padStart(4)} MB RSS`,
    );
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
