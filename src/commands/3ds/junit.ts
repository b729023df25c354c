import { cleanText } from '../../output/text.ts';
import type { ScenarioResult } from './scenario.ts';

/** Results as a JUnit report, which CI systems show. Nothing in it comes from a message of the service. */
export function junitReport(results: readonly ScenarioResult[], ms: number): string {
  const failures = results.filter(({ result, got }) => result === 'failed' && got !== 'error').length;
  const errors = results.filter(({ got }) => got === 'error').length;
  const counts = attributes({ name: '3-D Secure', tests: results.length, failures, errors, time: ms / 1000 });
  const cases = results.map((result) => `    ${testCase(result)}\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite${counts}>\n${cases}  </testsuite>\n</testsuites>\n`;
}

function testCase({ scenario, result, expected, got, reason, session, seconds }: ScenarioResult): string {
  const head = `<testcase${attributes({ classname: '3ds', name: scenario, time: seconds })}`;
  if (result === 'passed') return `${head}/>`;
  const why = reason === null ? '' : ` (${reason})`;
  const where = session === null ? '' : `; session ${session}`;
  const message = attributes({ message: `expected ${expected}, got ${got}${why}${where}`, type: reason ?? got });
  return `${head}><${got === 'error' ? 'error' : 'failure'}${message}/></testcase>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

// Characters that XML does not have at all are written out as escapes.
function escapeXml(text: string): string {
  return cleanText(text)
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(/[\uFFFE\uFFFF]/g, '?');
}
