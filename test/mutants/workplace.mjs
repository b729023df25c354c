// A copy of the project in which the drawn changes stand behind a switch, in `src` and in the built program.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { instrumented } from './instrument.mjs';

/**
 * The module that every changed file imports. The number of the change that is on is in a file and not in an environment
 * variable, because many tests start the program with an environment of their own. Each process reads it once. While it
 * is 0, each place records the test that reaches it.
 */
const switchText = (state) => `
import { appendFileSync, readFileSync } from 'node:fs';
const read = (name) => {
  try {
    return readFileSync(${JSON.stringify(state)} + '/' + name, 'utf8');
  } catch {
    return '';
  }
};
const numberOn = Number(read('number'));
const testOfParent = read('test');
const recorded = new Set();
export function isChanged(number) {
  if (numberOn === 0) record(number + ' ' + (globalThis.svcTestFile ?? testOfParent) + '\\n');
  return number === numberOn;
}
function record(line) {
  if (recorded.has(line)) return;
  recorded.add(line);
  try {
    appendFileSync(${JSON.stringify(state)} + '/reached', line);
  } catch {
    // The test may have used up all file descriptors, or have no right to write.
  }
}
`;

/**
 * Says which test file runs, to the switch in the worker and to that in the programs that the test starts. A property
 * that fails is not tried with smaller values, which can take minutes.
 */
const setupText = (state) => `
import { writeFileSync } from 'node:fs';
import { configureGlobal, readConfigureGlobal } from 'fast-check';
configureGlobal({ ...readConfigureGlobal(), endOnFailure: true });
globalThis.svcTestFile = globalThis.__vitest_worker__.filepath;
writeFileSync(${JSON.stringify(state)} + '/test', globalThis.svcTestFile);
`;

const CONFIG_TEXT = `
import base from './vitest.config.ts';
const setupFiles = ['mutants.setup.mjs', ...(base.test?.setupFiles ?? [])];
export default { ...base, test: { ...base.test, setupFiles } };
`;

/** The vitest process that runs now, if any. */
let running;

/** Copies the project, including files that git does not track yet, to a temporary directory. */
export function makeWorkplace(project) {
  const top = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
  const [copy, state] = [join(top, 'project'), join(top, 'state')];
  for (const name of filesOf(project, '**')) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    cpSync(join(project, name), join(copy, name));
  }
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(state);
  for (const name of ['number', 'test', 'reached']) writeFileSync(join(state, name), '', { mode: 0o666 });
  return { top, copy, state };
}

/** Ends the tests that run, and removes the copy. */
export function removeWorkplace({ top }) {
  endTests();
  rmSync(top, { recursive: true, force: true });
}

/** Returns the files of a project that match a pattern, including files that git does not track yet. */
export function filesOf(project, pattern) {
  const args = [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
    '--',
    `:(glob)${pattern}`,
  ];
  const names = execFileSync('git', args, { cwd: project, encoding: 'utf8' }).split('\0');
  return names.filter((name) => name !== '' && existsSync(join(project, name)));
}

/** Puts the changes behind the switch, and builds the program. */
export function build({ copy, state }, changes) {
  const switchFile = join(copy, 'src/mutants.switch.ts');
  writeFileSync(switchFile, switchText(state));
  writeFileSync(join(copy, 'mutants.setup.mjs'), setupText(state));
  writeFileSync(join(copy, 'mutants.config.mjs'), CONFIG_TEXT);
  for (const path of new Set(changes.map((change) => change.path))) {
    const ownChanges = changes.filter((change) => change.path === path);
    const text = readFileSync(join(copy, path), 'utf8');
    writeFileSync(join(copy, path), instrumented(text, ownChanges, switchFile));
  }
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * Runs test files with one change on, or with none for the number 0. Resolves to whether they passed, and what was
 * printed. `names` is a pattern for the full names of the tests to run. Tests that take longer than `limitMs` fail.
 */
export async function runTests({ copy, state }, number, files, { limitMs = 3_600_000, names = '' } = {}) {
  writeFileSync(join(state, 'number'), String(number));
  // One file at a time, so that the switch in a program that a test starts knows which test that is.
  const options = ['--config', 'mutants.config.mjs', '--maxWorkers=1', '--no-file-parallelism', '--bail=1'];
  if (names !== '') options.push('--testNamePattern', names);
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], {
    cwd: copy,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of processes, so that the programs that a test has started end with it.
    detached: true,
  });
  running = child;
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const timer = setTimeout(endTests, limitMs);
  const [code] = await once(child, 'close');
  running = undefined;
  clearTimeout(timer);
  return { passed: code === 0, printed };
}

function endTests() {
  if (running !== undefined) process.kill(-running.pid, 'SIGKILL');
}

/** Returns the test files that have reached each change, by its number. Each process of a test records it. */
export function reachingTests({ copy, state }) {
  const tests = new Map();
  for (const [, number, file] of readFileSync(join(state, 'reached'), 'utf8').matchAll(/^(\d+) (.+)$/gm))
    tests.set(Number(number), (tests.get(Number(number)) ?? new Set()).add(relative(copy, file)));
  return new Map(Array.from(tests, ([number, files]) => [number, [...files]]));
}
