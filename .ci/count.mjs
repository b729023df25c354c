// Counts the tests of the reports in a directory: node .ci/count.mjs <directory>
// Prints what failed, and which tests no run executed. A test that every run skipped is a failure, unless its line in
// may-be-skipped.txt says what it needs. The last line has the sums; the exit code is 1 when anything failed.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [directory = ''] = process.argv.slice(2);
const project = join(import.meta.dirname, '..');
const reports = readdirSync(directory).map(readReport);

for (const { name, testResults } of reports) printFailures(name, testResults);
const neverRun = printNeverRun(testsSkippedInEveryRun());

const sum = { passed: 0, failed: neverRun, skipped: 0 };
for (const report of reports) {
  sum.passed += report.numPassedTests;
  sum.failed += report.numFailedTests + brokenFiles(report.testResults);
  sum.skipped += (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0);
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
console.log(`\n${sum.passed} passed, ${sum.failed} failed${skipped}`);
process.exitCode = sum.failed > 0 ? 1 : 0;

function readReport(name) {
  try {
    return { name, testResults: [], ...JSON.parse(readFileSync(join(directory, name), 'utf8')) };
  } catch {
    return { name, testResults: [], numPassedTests: 0, numFailedTests: 1 };
  }
}

/** Prints failures again, so that the reader of a long log need not search for the few lines that matter. */
function printFailures(report, files) {
  for (const { name, status, message, assertionResults } of files) {
    const failures = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failures.length === 0) console.log(`\n${report}: ${name}\n${message}`);
    for (const { fullName, failureMessages } of failures)
      console.log(`\n${report}: ${name}: ${fullName}\n${failureMessages.join('\n').slice(0, 2000)}`);
  }
}

/** Counts the test files that did not load, which fail without a failed test. */
function brokenFiles(files) {
  return files.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length;
}

/** Returns the file and the full name of each test that was skipped in all the runs that know it. */
function testsSkippedInEveryRun() {
  const tests = new Map();
  for (const { testResults } of reports)
    for (const { name, assertionResults } of testResults)
      for (const { fullName, status } of assertionResults) {
        const file = relative(project, name);
        const wasRun = tests.get(`${file}: ${fullName}`)?.wasRun === true || status === 'passed' || status === 'failed';
        tests.set(`${file}: ${fullName}`, { file, fullName, wasRun });
      }
  return [...tests.values()].filter(({ wasRun }) => !wasRun);
}

/** Prints the tests by what they need. Returns the number of tests whose need is not listed. */
function printNeverRun(tests) {
  const listed = readFileSync(join(import.meta.dirname, 'may-be-skipped.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' | '));
  const headings = new Map();
  let unlisted = 0;
  for (const { file, fullName } of tests) {
    const need = listed.find(([, itsFile, words]) => itsFile === file && fullName.includes(words))?.[0];
    if (need === undefined) unlisted += 1;
    const heading =
      need === undefined
        ? 'failed: no run executed these, and .ci/may-be-skipped.txt does not list them'
        : `skipped in every run, for lack of: ${need}`;
    headings.set(heading, `${headings.get(heading) ?? ''}\n  ${file}: ${fullName}`);
  }
  for (const [heading, names] of headings) console.log(`\n${heading}${names}`);
  return unlisted;
}
