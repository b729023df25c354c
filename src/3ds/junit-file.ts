import fs from 'node:fs';
import { SvcError, writeFailure } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { readRegularFileSync } from '../base/files/read.ts';
import { requireFile, resolvePath } from '../cli/app/files/typed-path.ts';
import { escapeHtml } from '../cli/output/page.ts';
import { comparison, type ScenarioResult } from './scenario-result.ts';

/**
 * Checks before any request that the report can be written, and removes the report of an earlier run: if this run fails, a CI
 * system must not show the old one.
 * @returns the function that writes the report
 * @throws SvcError `usage` for any other file, such as the body of a scenario
 */
export async function openJunitFile(context: Context, typed: string): Promise<WriteReport> {
  const { writeFileAtomicSync } = await import('../base/files/draft.ts');
  if (typed === '-') throw new SvcError('usage', '--junit takes a file', { hint: 'Give a file name.' });
  const file = resolvePath(context, typed);
  await requireFile(file, true);
  removeReport(file);
  return (results, ms) => writeFileAtomicSync(file, context.out.redact(junitReport(results, ms)));
}

type WriteReport = (results: readonly ScenarioResult[], ms: number) => void;

// Removes only a JUnit report. Any other file was named by mistake.
function removeReport(file: string): void {
  try {
    if (!fs.existsSync(file)) return;
    const content = readRegularFileSync(file);
    if (content === '') return;
    if (!content.includes('<testsuite'))
      throw new SvcError('usage', `${file} is not a JUnit report`, {
        hint: 'Only an earlier report is replaced. Give another file.',
      });
    fs.rmSync(file);
  } catch (error) {
    throw writeFailure(file, error);
  }
}

/** Formats results as a JUnit report for CI systems, without any text from the service. */
function junitReport(results: readonly ScenarioResult[], ms: number): string {
  const failures = results.filter(({ result, got }) => result === 'failed' && got !== 'error').length;
  const errors = results.filter(({ got }) => got === 'error').length;
  const counts = attributes({ name: '3-D Secure', tests: results.length, failures, errors, time: ms / 1000 });
  const cases = results.map((result) => `    ${testCase(result)}\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite${counts}>\n${cases}  </testsuite>\n</testsuites>\n`;
}

function testCase(scenario: ScenarioResult): string {
  const { scenario: name, result, got, reason, session, seconds } = scenario;
  const head = `<testcase${attributes({ classname: '3ds', name, time: seconds })}`;
  if (result === 'passed') return `${head}/>`;
  const where = session === null ? '' : `; session ${session}`;
  const message = attributes({ message: comparison(scenario) + where, type: reason ?? got });
  return `${head}><${got === 'error' ? 'error' : 'failure'}${message}/></testcase>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeHtml(String(value)).replaceAll(NOT_IN_XML, '?')}"`)
    .join('');
}

// Characters that XML cannot represent.
const NOT_IN_XML = /[\uFFFE\uFFFF]/g;
