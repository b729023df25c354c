// Draws small changes of the sources, and prints those that no test notices:
//   npm run mutants -- --files 'src/au/run/*.ts' --files 'src/au/send/*.ts' --count 20 --seed 1
// 1. The type checker rejects some changes. All others are put into one copy of the project, in `src` and in the built
//    program, each behind a switch, so that trying one takes no build.
// 2. The tests run without a change. They must pass, and show which of them reach each change.
// 3. Each change runs with the tests that reach it, the nearest by name first, until one fails.
// A change that survives is a question to the reader and not an error: some changes make no difference.
//   --tests 100   how many test files to try, the nearest first      --slow   the slow tests too
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { changesIn, NOTHING } from './changes.mjs';
import { rejectedByTypes } from './types.mjs';
import { build, filesOf, makeWorkplace, reachingTests, removeWorkplace, runTests } from './workplace.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true, default: ['src/**/*.ts'] },
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '100' },
    slow: { type: 'boolean', default: false },
  },
});
const project = process.cwd();

/** How many test files run in each round. The first notice most changes. */
const ROUNDS = [8, 24, 72, Infinity];

/** How many times longer than without a change tests can take before they count as failed. */
const PATIENCE = 3;
const SHORTEST_LIMIT_MS = 60_000;

const changes = drawChanges();
const workplace = makeWorkplace(project);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    removeWorkplace(workplace);
    process.exit(1);
  });
try {
  const rejected = rejectedByTypes(workplace.copy, changes);
  say(`the type checker rejects ${rejected.length}`);
  const compiling = changes.filter((change) => !rejected.includes(change));
  build(workplace, compiling);
  if (await tryAll(compiling)) report(compiling);
  else process.exitCode = 1;
} finally {
  removeWorkplace(workplace);
}

/** Draws changes, numbered from 1. The same seed draws the same. */
function drawChanges() {
  const found = values.files.flatMap((pattern) => filesOf(project, pattern));
  const paths = found.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'));
  const all = paths.flatMap((path) => changesIn(path, readFileSync(path, 'utf8')));
  const random = randomFrom(Number(values.seed));
  const drawn = new Set();
  while (drawn.size < Math.min(Number(values.count), all.length)) drawn.add(Math.floor(random() * all.length));
  say(`${drawn.size} of ${all.length} changes in ${paths.length} files, seed ${values.seed}`);
  const chosen = all.filter((_, at) => drawn.has(at));
  for (const [index, change] of chosen.entries()) change.number = index + 1;
  return chosen;
}

/** Sets `isNoticed` and `reachedBy` of each change. Resolves to false if the tests fail without a change. */
async function tryAll(compiling) {
  let files = testFiles(compiling);
  for (const size of ROUNDS) {
    const open = compiling.filter(({ isNoticed }) => !isNoticed);
    if (open.length === 0 || files.length === 0) break;
    if (!(await tryRound(open, files.slice(0, size)))) return false;
    files = files.slice(size);
  }
  return true;
}

async function tryRound(open, files) {
  const started = Date.now();
  const { passed, printed } = await runTests(workplace, 0, files);
  if (!passed) {
    say(`${printed.slice(-4000)}\nthese tests fail without a change, so they cannot show what a change does`);
    return false;
  }
  say(`${files.length} test files pass without a change`);
  const limitMs = Math.max(SHORTEST_LIMIT_MS, PATIENCE * (Date.now() - started));
  const reaching = reachingTests(workplace);
  for (const change of open) {
    change.reachedBy = reaching.get(change.number) ?? [];
    const [nearest, ...others] = nearestFirst(change.reachedBy, [change]).filter((file) => files.includes(file));
    // The nearest test usually fails, and takes a fraction of the time of all.
    change.isNoticed = (await fails(change, [nearest], limitMs)) || (await fails(change, others, limitMs));
  }
  return true;
}

async function fails({ number }, files, limitMs) {
  const known = files.filter((file) => file !== undefined);
  return known.length > 0 && !(await runTests(workplace, number, known, { limitMs })).passed;
}

/**
 * Returns the test files to try, the nearest to any of the changes first. Tests of the project read the text of the
 * sources, in which the switches break their rules.
 */
function testFiles(compiling) {
  const files = filesOf(project, 'test/**/*.test.ts').filter(
    (path) => !path.startsWith('test/project/') && (values.slow || !path.endsWith('.slow.test.ts')),
  );
  return nearestFirst(files, compiling).slice(0, Number(values.tests));
}

function nearestFirst(tests, compiling) {
  const paths = [...new Set(compiling.map(({ path }) => path))];
  const distances = new Map(tests.map((test) => [test, Math.min(...paths.map((path) => distance(test, path)))]));
  return tests.toSorted((one, other) => distances.get(one) - distances.get(other) || (one < other ? -1 : 1));
}

/** Returns 0 for a test named after the source file, otherwise 1 more than the steps between their directories. */
function distance(test, path) {
  const [testFolders, folders] = [test, path].map((file) => dirname(file).split('/').slice(1));
  const firstOther = testFolders.findIndex((name, at) => name !== folders[at]);
  const common = firstOther === -1 ? testFolders.length : firstOther;
  const steps = testFolders.length + folders.length - 2 * common;
  return steps === 0 && basename(test).split('.')[0] === basename(path, '.ts') ? 0 : steps + 1;
}

function report(compiling) {
  const survivors = compiling.filter(({ isNoticed }) => !isNoticed);
  for (const { path, line, column, from, to, reachedBy = [] } of survivors) {
    const what = to === NOTHING ? `without \`${short(from)}\`` : `\`${short(from)}\` as \`${short(to)}\``;
    const tests = reachedBy.length === 0 ? 'no test reaches it' : `test files that reach it: ${reachedBy.length}`;
    say(`${path}:${line}:${column} survived: ${what}; ${tests}`);
  }
  say(`${compiling.length - survivors.length} noticed, ${survivors.length} survived`);
}

function short(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** Returns a generator of numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
