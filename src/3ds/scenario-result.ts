// The result of a test scenario: what was expected, and what was reached.

import type { SvcError } from '../base/errors.ts';
import { fieldPaths, type Tone, type View } from '../cli/output/view.ts';
import { isOpen } from './outcome-lines.ts';
import type { CheckedBody } from './body.ts';
import type { Scenario } from './suite.ts';

/** What a scenario expects, with the amount of its authentication. */
type Expected = Pick<Scenario, 'name' | 'expect' | 'reason'> & Pick<CheckedBody, 'amount_text'>;

export type ScenarioResult = ReturnType<typeof resultOf>;

export const scenarioView: View<ScenarioResult> = {
  name: 'scenario',
  fields: fieldPaths('scenario result expected expected_reason amount_text got reason session seconds'),
  columns: [
    { path: 'result', kind: 'status', paint: resultTone },
    { path: 'scenario', kind: 'text', minWidth: 30 },
    { path: 'expected', kind: 'status', priority: 3 },
    { path: 'got', kind: 'status' },
    { path: 'reason', kind: 'text', priority: 2, minWidth: 26 },
    { path: 'seconds', kind: 'number', priority: 1 },
    { path: 'session', kind: 'id', priority: 0 },
  ],
};

/** Returns the result of a scenario that ended with an error. */
export function failedResult(planned: Expected, { code, status, facts }: SvcError): ScenarioResult {
  const { session } = facts ?? {};
  const id = typeof session === 'string' ? session : undefined;
  return resultOf(planned, 'error', status === undefined ? code : `${code}-${status}`, id);
}

/** Returns the result of a scenario. `got` is a status, an HTTP status, or `error`. */
export function resultOf(
  { name, expect, ...planned }: Expected,
  got: string,
  reason?: string,
  session?: string,
  ms = 0,
) {
  const isExpected = (expect ?? got) === got && (planned.reason === undefined || planned.reason === reason);
  const verdict = isExpected ? 'passed' : 'failed';
  const ended = isOpen({ authentication_status: got }) ? 'open' : 'completed';
  return {
    scenario: name,
    result: expect === undefined && planned.reason === undefined ? ended : verdict,
    expected: expect ?? null,
    expected_reason: planned.reason ?? null,
    amount_text: planned.amount_text,
    got: codeIn(got) ?? 'unknown',
    reason: codeIn(reason),
    session: codeIn(session),
    seconds: Math.round(ms / 100) / 10,
  };
}

/** Describes expected and reached status: `expected successful, got failed (card-expired)`. */
export function comparison({ expected, expected_reason, got, reason }: ScenarioResult): string {
  return `expected ${withReason(expected ?? 'any status', expected_reason)}, got ${withReason(got, reason)}`;
}

export function withReason(status: string, reason: string | null): string {
  return reason === null ? status : `${status} (${reason})`;
}

function resultTone(result: unknown): Tone {
  if (result === 'open') return 'warn';
  return result === 'failed' ? 'bad' : 'good';
}

// Drops a text that is not a code, since the service may send any text.
function codeIn(text: string | undefined): string | null {
  return text !== undefined && /^[\w-]{1,64}$/.test(text) ? text : null;
}
