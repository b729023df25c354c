// Draws small changes of the sources, and prints those that no test notices:
//   npm run mutants -- --files 'src/au/run/*.ts' --files 'src/au/send/*.ts' --count 20 --seed 1
// 1. The type checker rejects some changes. All others are put into one copy of the project, in `src` and in the built
//    program, each behind a switch, so that trying one takes no build.
// 2. The tests run without a change. They must pass, and show which of them reach each change.
// 3. Each change runs with the tests that reach it, the nearest by name first, until one fails.
// A change that survives is a question to the reader and not an error: some changes make no difference.
//   --tests 100   how many test files to try, the nearest first      --slow   the slow tests too
// Before test files are removed, this prints the changes that no other test notices:
//   npm run mutants -- --without test/au/run/verdict.test.ts --count 60 --seed 1
// Only changes that these files reach are drawn. Each runs with these files, and if they notice it, with the others.
//   --without     may be repeated          --named 'a table'   only the tests of these files whose full names begin so
//   --suite-last  the nearest other tests first, and these files only with what those do not notice: for slow files
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { changesIn, NOTHING } from './changes.mjs';
import { drawn, numbered } from './draw.mjs';
import { nearestFirst } from './nearest.mjs';
import { rejectedByTypes } from './types.mjs';
import { build, filesOf, makeWorkplace, reachingTests, removeWorkplace, runTests } from './workplace.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true, default: ['src/**/*.ts'] },
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '100' },
    slow: { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
    named: { type: 'string', default: '' },
    'suite-last': { type: 'boolean', default: false },
  },
});
const project = process.cwd();

/** How many test files run in each round. The first notice most changes. */
const ROUNDS = [8, 24, 72, Infinity];

/** How many of the nearest test files run before a slow suite. */
const NEAREST = 2;

/** How many times longer than without a change tests can take before they count as failed. */
const PATIENCE = 3;
const SHORTEST_LIMIT_MS = 60_000;

/**
 * Test files that cannot show what a change does: tests of the project read the text of the sources, in which the
 * switches break their rules, and a program that may open too few files cannot read its switch.
 */
const UNFIT = ['test/project/', 'test/e2e/open-files.test.ts'];

/** The test files that may be removed, and patterns for the names of their tests and of all others. */
const suite = values.without;
const beginning = values.named.replaceAll(/[^\w ]/g, String.raw`\$&`);
const [namesOfSuite, otherNames] = values.named === '' ? [] : [`^${beginning}`, `^(?!${beginning})`];

let workplace = makeWorkplace(project);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
try {
  const listed = listChanges();
  const all = suite.length === 0 ? listed : await reachedBySuite(listed);
  const [count, seed] = [Number(values.count), Number(values.seed)];
  // Twice as many as are wanted, because the type checker rejects some.
  const changes = drawn(all, suite.length === 0 ? count : 2 * count, seed);
  const files = new Set(all.map(({ path }) => path)).size;
  say(`${changes.length} of ${all.length} changes in ${files} files, seed ${seed}`);
  const rejected = rejectedByTypes(workplace.copy, changes);
  say(`the type checker rejects ${rejected.length}`);
  const accepted = changes.filter((change) => !rejected.includes(change));
  const compiling = drawn(accepted, count, seed);
  build(workplace, compiling);
  let open = compiling;
  if (values['suite-last']) open = await unnoticedByNearest(open);
  if (suite.length > 0) open = await noticedBySuite(open);
  await tryAll(open);
  report(open);
} finally {
  removeWorkplace(workplace);
}

function stop() {
  removeWorkplace(workplace);
  process.exit(1);
}

function listChanges() {
  const found = values.files.flatMap((pattern) => filesOf(project, pattern));
  const paths = found.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'));
  return numbered(paths.flatMap((path) => changesIn(path, readFileSync(path, 'utf8'))));
}

/** Returns the changes that the suite reaches. A copy with all changes shows this, and another one takes its place. */
async function reachedBySuite(all) {
  build(workplace, all);
  await runUnchanged(suite, namesOfSuite);
  const reaching = reachingTests(workplace);
  removeWorkplace(workplace);
  workplace = makeWorkplace(project);
  return all.filter(({ number }) => reaching.has(number));
}

/** Runs tests without a change, which must pass. Resolves to how long they can take with a change. */
async function runUnchanged(files, names) {
  const started = Date.now();
  const { passed, printed } = await runTests(workplace, 0, files, { names });
  if (!passed) {
    say(`${printed.slice(-4000)}\nthese tests fail without a change, so they cannot show what a change does`);
    stop();
  }
  return Math.max(SHORTEST_LIMIT_MS, PATIENCE * (Date.now() - started));
}

/** Tries each change with the nearest test files outside the suite, and returns the changes that these do not notice. */
async function unnoticedByNearest(compiling) {
  const tests = testFiles(compiling);
  const files = [...new Set(compiling.flatMap((change) => nearestFirst(tests, [change]).slice(0, NEAREST)))];
  const limits = { limitMs: await runUnchanged(files, otherNames), names: otherNames };
  const reaching = reachingTests(workplace);
  const open = [];
  for (const change of compiling) {
    const reached = (reaching.get(change.number) ?? []).filter((file) => files.includes(file));
    if (!(await fails(change, nearestFirst(reached, [change]).slice(0, NEAREST), limits))) open.push(change);
  }
  say(`the nearest other test files notice ${compiling.length - open.length} of ${compiling.length}`);
  return open;
}

async function noticedBySuite(compiling) {
  const limitMs = await runUnchanged(suite, namesOfSuite);
  const noticed = [];
  for (const change of compiling)
    if (await fails(change, suite, { limitMs, names: namesOfSuite })) noticed.push(change);
  say(`the suite notices ${noticed.length} of ${compiling.length}`);
  return noticed;
}

/** Sets `isNoticed` and `reachedBy` of each change. */
async function tryAll(compiling) {
  let files = testFiles(compiling);
  for (const size of ROUNDS) {
    const open = compiling.filter(({ isNoticed }) => !isNoticed);
    if (open.length === 0 || files.length === 0) break;
    await tryRound(open, files.slice(0, size));
    files = files.slice(size);
  }
}

async function tryRound(open, files) {
  const limits = { limitMs: await runUnchanged(files, otherNames), names: otherNames };
  say(`${files.length} test files pass without a change`);
  const reaching = reachingTests(workplace);
  for (const change of open) {
    change.reachedBy = (reaching.get(change.number) ?? []).filter(canRun);
    const [nearest, ...others] = nearestFirst(change.reachedBy, [change]).filter((file) => files.includes(file));
    // The nearest test usually fails, and takes a fraction of the time of all.
    change.isNoticed = (await fails(change, [nearest], limits)) || (await fails(change, others, limits));
  }
}

async function fails({ number }, files, limits) {
  const known = files.filter((file) => file !== undefined);
  return known.length > 0 && !(await runTests(workplace, number, known, limits)).passed;
}

/** Returns true for a test file that has, or can have, tests outside the suite. */
function canRun(file) {
  return values.named !== '' || !suite.includes(file);
}

/** Returns the test files to try, the nearest to any of the changes first. */
function testFiles(compiling) {
  const files = filesOf(project, 'test/**/*.test.ts').filter(
    (path) =>
      canRun(path) &&
      !UNFIT.some((beginning) => path.startsWith(beginning)) &&
      (values.slow || !path.endsWith('.slow.test.ts')),
  );
  return nearestFirst(files, compiling).slice(0, Number(values.tests));
}

function report(tried) {
  const [verdict, reaching] = suite.length === 0 ? ['survived', ''] : ['noticed by the suite alone', 'other '];
  const survivors = tried.filter(({ isNoticed }) => !isNoticed);
  for (const { path, line, column, from, to, reachedBy = [] } of survivors) {
    const what = to === NOTHING ? `without \`${short(from)}\`` : `\`${short(from)}\` as \`${short(to)}\``;
    const tests =
      reachedBy.length === 0
        ? `no ${reaching}test reaches it`
        : `${reaching}test files that reach it: ${reachedBy.length}`;
    say(`${path}:${line}:${column} ${verdict}: ${what}; ${tests}`);
  }
  const noticed = tried.length - survivors.length;
  if (suite.length === 0) say(`${noticed} noticed, ${survivors.length} survived`);
  else say(`${noticed} noticed by others too, ${survivors.length} by the suite alone`);
}

function short(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
