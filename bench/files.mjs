// Measures time and memory of the commands that read files: check, report, next, and the merge of a run's results.
//   npm run bench files [rows] [runs]
// Each runs with 20,000 rows (a request of 1 MB) and with many (2,000,000 by default), in separate processes. The
// goals are memory that does not grow, and processor time per row beyond those. Node 20 runs no TypeScript, so the merge
// is bundled into a temporary directory.
import { randomUUID } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { inTurns, plainEnvironment, report, rowsFrom, runNode, WITH_FLAGS } from './support/measure.mjs';

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
  const title = `files of ${many} rows beside ${FEW}, ${runs} runs in turns`;
  report('files', title, await measure(small, large));
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
    'au next': ({ request, results }) => [
      launcher,
      'au',
      'next',
      request,
      results,
      '--out',
      out,
      '--force',
      '--fail-on',
      'err=50%',
    ],
    [`merge of ${PARTS} parts`]: ({ parts }) => [...WITH_FLAGS, join(directory, 'child.mjs'), merged, ...parts],
    'merge, one with a column more': ({ parts, odd }) => [
      ...WITH_FLAGS,
      join(directory, 'child.mjs'),
      merged,
      ...parts.slice(0, -1),
      odd,
    ],
  };
}

async function measure(small, large) {
  const programs = Object.entries(commands()).flatMap(([name, argsFor]) => [
    [`${name}: few`, () => runNode(argsFor(small), env)],
    [name, () => runNode(argsFor(large), env)],
  ]);
  return rowsFrom(await inTurns(runs, Object.fromEntries(programs)), rowsOf);
}

function rowsOf(taken) {
  const rows = Object.keys(commands()).map((name) => {
    const { busy, ms, mb } = taken[name];
    const few = taken[`${name}: few`];
    const perMillion = ((busy - few.busy) / 1000 / (many - FEW)) * 1e6;
    return { name, seconds: ms / 1000, perMillion, mb, growth: mb - few.mb };
  });
  return [
    ...rows.flatMap(({ name, seconds, perMillion, mb, growth }) => [
      { name: `${name}: wall`, figure: seconds, unit: 's' },
      { name: `${name}, a million rows`, figure: perMillion, unit: 's, processor time' },
      { name: `${name}: memory`, figure: mb, unit: 'MB' },
      { name: `${name}: memory beyond that of few rows`, figure: growth, unit: 'MB' },
    ]),
    { name: 'memory, at most', figure: Math.max(...rows.map(({ mb }) => mb)), unit: 'MB' },
    {
      name: 'memory beyond that of few rows, at most',
      figure: Math.max(...rows.map(({ growth }) => growth)),
      unit: 'MB',
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
