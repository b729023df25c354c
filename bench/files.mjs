// Measures time and memory of the commands that read files: check, report, next, and the merge of a run's results.
//   node bench/files.mjs [rows] [runs]
// Each runs with 20,000 rows (a request of 1 MB) and with many (2,000,000 by default), in separate processes. The
// goal is memory that does not grow. Build first. Node 20 runs no TypeScript, so the merge is bundled into a
// temporary directory.
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { median, plainEnvironment, report, runNode } from './support/measure.mjs';

const FEW = 20_000;
const many = Number(process.argv[2] ?? 2_000_000);
const runs = Number(process.argv[3] ?? 3);
const PARTS = 7;
const CODES = ['UPD_PAN', 'UPD_EXP_DATE', 'WRN_CLOSED_ACCOUNT', 'WRN_OPT_OUT', 'ERR_INVALID_TOKEN'];
const REQUEST_HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
const RESULT_HEADER =
  'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code\n';

const root = fileURLToPath(new URL('..', import.meta.url));
const launcher = join(root, 'bin/svc.js');
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const env = plainEnvironment(directory);
try {
  await bundleMerge();
  const [small, large] = [generate('few', FEW), generate('many', many)];
  const rows = [];
  for (const [name, argsFor] of Object.entries(commands())) rows.push(...(await measure(name, argsFor, small, large)));
  report(`files of ${many} rows beside ${FEW}, median of ${runs} runs`, rows);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function commands() {
  const out = join(directory, 'next.csv');
  const merged = join(directory, 'merged.csv');
  return {
    'au check': ({ request }) => [launcher, 'au', 'check', request],
    'au report': ({ results }) => [launcher, 'au', 'report', results],
    'au report --request': ({ request, results }) => [launcher, 'au', 'report', results, '--request', request],
    'au next': ({ request, results }) => [launcher, 'au', 'next', request, results, '--out', out, '--force'],
    [`merge of ${PARTS} parts`]: ({ parts }) => [join(directory, 'child.mjs'), merged, ...parts],
    'merge, one with a column more': ({ parts, odd }) => [
      join(directory, 'child.mjs'),
      merged,
      ...parts.slice(0, -1),
      odd,
    ],
  };
}

async function measure(name, argsFor, small, large) {
  const taken = [];
  for (let run = 0; run < runs; run += 1)
    taken.push([await runNode(argsFor(small), env), await runNode(argsFor(large), env)]);
  const peak = median(taken.map(([, { mb }]) => mb));
  return [
    { name, figure: median(taken.map(([, { ms }]) => ms)) / 1000, unit: 's' },
    { name: `${name}: memory`, figure: peak, unit: 'MB', goal: 100 },
    {
      name: `${name}: memory beyond that of few rows`,
      figure: peak - median(taken.map(([{ mb }]) => mb)),
      unit: 'MiB',
      goal: 20,
    },
  ];
}

async function bundleMerge() {
  const build = await rolldown({ input: join(root, 'src/au/results/merge.ts'), platform: 'node', cwd: root });
  await build.write({ file: join(directory, 'merge.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
  const child = `import { mergeResults } from './merge.mjs';
    const [target, ...parts] = process.argv.slice(2);
    await mergeResults(parts, target, { overwrite: true, mark: 'bench' });`;
  writeFileSync(join(directory, 'child.mjs'), child);
}

function generate(name, count) {
  const files = Object.fromEntries(
    ['request', 'results', 'odd', ...Array.from({ length: PARTS }, (_, at) => `part${at}`)].map((kind) => [
      kind,
      join(directory, `${name}-${kind}.csv`),
    ]),
  );
  const open = Object.fromEntries(Object.entries(files).map(([kind, file]) => [kind, openSync(file, 'w')]));
  const perPart = Math.ceil(count / PARTS);
  for (const [kind, fd] of Object.entries(open)) writeSync(fd, headerOf(kind));
  for (let from = 0; from < count; from += perPart) {
    const part = from / perPart;
    for (let at = from; at < Math.min(count, from + perPart); at += 10_000) {
      const length = Math.min(10_000, count - at, from + perPart - at);
      const lines = Array.from({ length }, (_, index) => linesOf(at + index));
      const results = lines.map(([, line]) => line).join('');
      writeSync(open.request, lines.map(([line]) => line).join(''));
      writeSync(open.results, results);
      writeSync(open[`part${part}`], results);
      if (part === PARTS - 1) writeSync(open.odd, results.replaceAll('\n', ',a note\n'));
    }
  }
  for (const fd of Object.values(open)) closeSync(fd);
  const parts = Array.from({ length: PARTS }, (_, at) => files[`part${at}`]);
  return { request: files.request, results: files.results, odd: files.odd, parts };
}

function headerOf(kind) {
  if (kind === 'request') return REQUEST_HEADER;
  return kind === 'odd' ? RESULT_HEADER.replace('\n', ',note\n') : RESULT_HEADER;
}

/** Returns a row of the request and its result. */
function linesOf(at) {
  const token = randomUUID();
  const code = CODES[at % CODES.length];
  const date = at % 3 === 0 ? '27,05' : ',';
  const update = code.startsWith('UPD') ? `${randomUUID()},29,11` : ',,';
  return [`${token},${date},SANDBOX\n`, `${token},${date},${update},${code}\n`];
}
