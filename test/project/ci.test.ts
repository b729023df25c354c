import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = 'test/browser/report.slow.test.ts';
const EXECUTABLES = 'test/project/executables.slow.test.ts';

type Tests = Readonly<Record<string, 'passed' | 'failed' | 'skipped'>>;

/** Counts the tests of runs, each with the results of one file. */
function count(...runs: readonly (readonly [file: string, tests: Tests])[]): { status: number | null; stdout: string } {
  const directory = temporaryDirectory();
  for (const [index, [file, tests]] of runs.entries()) {
    const assertionResults = Object.entries(tests).map(([fullName, status]) => ({
      fullName,
      status,
      failureMessages: [],
    }));
    const having = (status: string): number => assertionResults.filter((test) => test.status === status).length;
    const report = {
      numPassedTests: having('passed'),
      numFailedTests: having('failed'),
      numPendingTests: having('skipped'),
      testResults: [{ name: join(project, file), status: 'passed', message: '', assertionResults }],
    };
    writeFileSync(join(directory, `${index}.json`), JSON.stringify(report));
  }
  const { status, stdout } = spawnSync('node', ['.ci/count.mjs', directory], { cwd: project, encoding: 'utf8' });
  return { status, stdout };
}

it('the count of all runs fails for a test that each of them skipped', () => {
  const skipped = [EXECUTABLES, { 'the executable starts': 'skipped' }] as const;
  const { status, stdout } = count(skipped, skipped, [PAGES, { 'a report': 'passed' }]);
  expect(stdout).toContain(`does not list them\n  ${EXECUTABLES}: the executable starts\n`);
  expect(stdout).toMatch(/\n1 passed, 1 failed, 2 skipped\n$/);
  expect(status).toBe(1);
});

it('the count of all runs passes when one of them ran the test', () => {
  const test = 'the executable starts';
  const { status, stdout } = count([EXECUTABLES, { [test]: 'skipped' }], [EXECUTABLES, { [test]: 'passed' }]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '\n1 passed, 0 failed, 1 skipped\n' });
});

it('the count of all runs prints what a listed test lacks, and passes', () => {
  const { status, stdout } = count([PAGES, { 'a report in Chromium is shown': 'skipped', other: 'passed' }]);
  expect(stdout).toContain(
    `\nskipped in every run, for lack of: Chromium\n  ${PAGES}: a report in Chromium is shown\n`,
  );
  expect(status).toBe(0);
});

it('the count of all runs does not take a listed reason for another file', () => {
  const { status } = count([EXECUTABLES, { 'a report in Chromium is shown': 'skipped' }]);
  expect(status).toBe(1);
});

it('the count of all runs has a line without skipped tests when there are none', () => {
  const { stdout } = count([PAGES, { one: 'passed', two: 'failed' }]);
  expect(stdout).toMatch(/\n1 passed, 1 failed\n$/);
});

it('the list of tests that may be skipped names words of tests that are there', () => {
  const lines = readFileSync(join(project, '.ci/may-be-skipped.txt'), 'utf8').trimEnd().split('\n');
  const listed = lines.filter((line) => !line.startsWith('#'));
  const stale = listed.filter((line) => {
    const [, file = '', words = ''] = line.split(' | ');
    return (
      words === '' || !existsSync(join(project, file)) || !readFileSync(join(project, file), 'utf8').includes(words)
    );
  });
  expect(stale).toEqual([]);
  expect(listed.length).toBeGreaterThan(20);
});
