// Draws small changes of the sources, and prints those that no test notices:
//   npm run mutants -- --files 'src/au/job/*.ts' --files 'src/au/jobs/*.ts' --count 20 --seed 1
// 1. The type checker rejects some changes. All others are put into one copy of the project, in `src` and in the built
//    program, each behind a switch, so that trying one takes no build.
// 2. The tests run without a change. They must pass, and show which of them reach each change.
// 3. Each change runs with the tests that reach it, the nearest by name first, until one fails.
// A change that survives is a question to the reader and not an error: some changes make no difference.
// Several patterns can each have their number: --files 'src/au/**/*.ts' --count 60 --files 'src/logs/**/*.ts' --count 30
//   --tests 100   how many test files to try with each change, the nearest first
//   --slow 'test/au/**'   then these slow tests, with what the others miss; may be repeated
// Before test files are removed, this prints the changes that no other test notices:
//   npm run mutants -- --without test/au/job/verdict.test.ts --count 60 --seed 1
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
    count: { type: 'string', multiple: true, default: ['20'] },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '100' },
    slow: { type: 'string', multiple: true, default: [] },
    without: { type: 'string', multiple: true, default: [] },
    named: { type: 'string', default: '' },
    'suite-last': { type: 'boolean', default: false },
  },
});
const project = process.cwd();
const seed = Number(values.seed);

/** How many of the nearest test files of a change have run with it after each round. The first notice most changes. */
const ROUNDS = [4, 16, 64, Infinity];

/** How many of the nearest test files of a change run before a slow suite. */
const NEAREST = 2;

/** How many times longer than without a change tests can take before they count as failed. */
const PATIENCE = 3;
const MIN_LIMIT_MS = 60_000;

/**
 * Test files that cannot show what a change does: tests of the project read the text of the sources, in which the
 * switches break their rules, those of this program run no source, and one with too few open files reads no switch.
 */
const UNFIT = ['test/project/', 'test/mutants/', 'test/e2e/open-files.test.ts'];

const SLOW = '.slow.test.ts';

/** The test files that may be removed, and patterns for the names of their tests and of all others. */
const suite = values.without;
const beginning = values.named.replaceAll(/[^\w ]/g, String.raw`\$&`);
const [namesOfSuite, otherNames] = values.named === '' ? [] : [`^${beginning}`, `^(?!${beginning})`];

let workplace = makeWorkplace(project);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
try {
  const changes = await draw();
  const rejected = rejectedByTypes(workplace.copy, changes);
  say(`the type checker rejects ${rejected.length}`);
  const accepted = changes.filter((change) => !rejected.includes(change));
  const compiling = suite.length === 0 ? numbered(accepted) : drawn(accepted, Number(values.count[0]), seed);
  build(workplace, compiling);
  let open = compiling;
  if (values['suite-last']) open = await unnoticedByNearest(open, testFiles(), NEAREST);
  if (suite.length > 0) open = await noticedBySuite(open);
  await tryAll(open);
  report(open);
  if (values.slow.length > 0) {
    await trySlow(open);
    report(open);
  }
} finally {
  removeWorkplace(workplace);
}

function stop() {
  removeWorkplace(workplace);
  process.exit(1);
}

/** Draws the changes to try. For a suite that is twice as many as are wanted, because the type checker rejects some. */
async function draw() {
  if (suite.length > 0) return drawnOf(await reachedBySuite(changesOf(values.files)), 2 * Number(values.count[0]));
  if (values.count.length === 1) return drawnOf(changesOf(values.files), Number(values.count[0]));
  const groups = values.files.map((pattern, at) => drawnOf(changesOf([pattern]), Number(values.count[at])));
  return numbered(groups.flat());
}

function drawnOf(all, count) {
  const changes = drawn(all, count, seed);
  say(`${changes.length} of ${all.length} changes in ${new Set(all.map(({ path }) => path)).size} files, seed ${seed}`);
  return changes;
}

function changesOf(patterns) {
  const found = patterns.flatMap((pattern) => filesOf(project, pattern));
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
  return Math.max(MIN_LIMIT_MS, PATIENCE * (Date.now() - started));
}

/** Tries each change with the nearest test files outside the suite, and returns the changes that these do not notice. */
async function unnoticedByNearest(changes, tests, howMany) {
  const nearestOf = (files, change) => nearestFirst(files, [change]).slice(0, howMany);
  const files = [...new Set(changes.flatMap((change) => nearestOf(tests, change)))];
  if (files.length === 0) return changes;
  const limits = { limitMs: await runUnchanged(files, otherNames), names: otherNames };
  const reaching = reachingTests(workplace);
  const open = [];
  for (const change of changes) {
    const reached = (reaching.get(change.number) ?? []).filter((file) => files.includes(file));
    if (!(await fails(change, nearestOf(reached, change), limits))) open.push(change);
  }
  say(`the nearest ${files.length} test files notice ${changes.length - open.length} of ${changes.length}`);
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
async function tryAll(changes) {
  const tests = testFiles();
  const ran = new Set();
  let limitMs = MIN_LIMIT_MS;
  for (const size of ROUNDS.map((round) => Math.min(round, Number(values.tests)))) {
    const open = unnoticed(changes);
    for (const change of open) change.tests = nearestFirst(tests, [change]).slice(0, size);
    const files = [...new Set(open.flatMap((change) => change.tests))].filter((file) => !ran.has(file));
    if (files.length > 0) limitMs = Math.max(limitMs, await runUnchanged(files, otherNames));
    for (const file of files) ran.add(file);
    await tryRound(open, files.length, { limitMs, names: otherNames });
  }
}

/** Tries the slow tests that reach it with each change that no other test notices. */
async function trySlow(changes) {
  const wanted = new Set(values.slow.flatMap((pattern) => filesOf(project, pattern)));
  const slow = testFiles(SLOW).filter((path) => wanted.has(path));
  const open = await unnoticedByNearest(unnoticed(changes), slow, slow.length);
  for (const change of unnoticed(changes)) change.isNoticed = !open.includes(change);
}

function unnoticed(changes) {
  return changes.filter(({ isNoticed }) => !isNoticed);
}

async function tryRound(open, added, limits) {
  const reaching = reachingTests(workplace);
  for (const change of open) {
    change.reachedBy = (reaching.get(change.number) ?? []).filter(canRun);
    const files = change.tests.filter((file) => change.reachedBy.includes(file) && !change.tried?.includes(file));
    change.tried = change.tests;
    // The nearest test usually fails, and takes a fraction of the time of all.
    const [nearest, ...others] = files;
    change.isNoticed = (await fails(change, [nearest], limits)) || (await fails(change, others, limits));
  }
  const noticed = open.filter(({ isNoticed }) => isNoticed).length;
  if (added > 0 || noticed > 0)
    say(`${added} more test files, which pass without a change: ${noticed} of ${open.length} changes noticed`);
}

async function fails({ number }, files, limits) {
  const known = files.filter((file) => file !== undefined);
  return known.length > 0 && !(await runTests(workplace, number, known, limits)).passed;
}

/** Returns true for a test file that has, or can have, tests outside the suite. */
function canRun(file) {
  return values.named !== '' || !suite.includes(file);
}

/** Returns the test files outside the suite that can notice a change: those that are slow, or all others. */
function testFiles(kind = '') {
  return filesOf(project, 'test/**/*.test.ts').filter(
    (path) =>
      canRun(path) && !UNFIT.some((beginning) => path.startsWith(beginning)) && path.endsWith(SLOW) === (kind === SLOW),
  );
}

function report(tried) {
  const [verdict, reaching] = suite.length === 0 ? ['survived', ''] : ['noticed by the suite alone', 'other '];
  const survivors = unnoticed(tried);
  for (const { path, line, column, from, to, reachedBy = [] } of survivors) {
    const what = to === NOTHING ? `without \`${short(from)}\`` : `\`${short(from)}\` as \`${short(to)}\``;
    const tests =
      reachedBy.length === 0
        ? `no ${reaching}test reaches it`
        : `${reaching}test files that reach it: ${reachedBy.length}`;
    say(`${path}:${line}:${column} ${verdict}: ${what}; ${tests}`);
  }
  const noticed = tried.length - survivors.length;
  if (suite.length === 0) reportFolders(tried);
  if (suite.length === 0) say(`${noticed} noticed, ${survivors.length} survived`);
  else say(`${noticed} noticed by others too, ${survivors.length} by the suite alone`);
}

function reportFolders(tried) {
  for (const folder of new Set(tried.map(folderOf))) {
    const inside = tried.filter((change) => folderOf(change) === folder);
    say(`${folder}: ${inside.filter(({ isNoticed }) => isNoticed).length} of ${inside.length} noticed`);
  }
}

/** Returns the folder below "src" in which the file of a change lies. */
function folderOf({ path }) {
  return path.split('/').slice(0, -1).slice(0, 2).join('/');
}

function short(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
