// Runs a test scenario: session, authentication, challenge, and the comparison with the expected status.

import path from 'node:path';
import { isSvcError, SvcError } from '../base/errors.ts';
import type { Context, PreviewRequest } from '../cli/app/command.ts';
import { value } from '../cli/app/parameter.ts';
import { positiveDuration } from '../cli/app/value-parsers.ts';
import { fieldPaths, type Tone, type View } from '../cli/output/view.ts';
import type { Client } from '../client/api/client.ts';
import { pollUntil } from '../client/api/poll.ts';
import { isLoopbackHost } from '../schema/address.ts';
import type { AuthenticateRequest } from '../schema/three-ds/authenticate.ts';
import type { AuthenticationResult, CreateSession } from '../schema/three-ds/session.ts';
import type { SessionType } from '../schema/three-ds/values.ts';
import { bodyName, changedBody, type CheckedBody, checkedBody, readBody } from './body.ts';
import type { LiftableRule } from './rules.ts';
import { isOpen } from './outcome-lines.ts';
import { pageOf, reportPage } from './challenge-page.ts';
import { afterAuthentication, outcomeIfPossible, readOutcome } from './outcome.ts';
import { resultSoFar } from './wait.ts';
import type { Setting } from './setting.ts';
import type { ChallengeReply, Scenario } from './suite.ts';
import { requireSandbox, sessionCard } from './session-card.ts';

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

export const challengeTimeoutParameter = value(
  '--challenge-timeout <duration>',
  'time limit of a challenge (default 10m)',
  positiveDuration,
);

/** A scenario with its checked requests. */
export interface PlannedScenario
  extends Omit<CheckedBody, 'body'>, Pick<Scenario, 'name' | 'expect' | 'reason' | 'outcome' | 'challenge'> {
  readonly session: CreateSession;
  readonly body: AuthenticateRequest;
}

/** Finds the card of a scenario and checks its body, before any request. */
export async function planScenario(
  context: Context,
  { name, body: file, type, expect, reason, outcome, challenge, ...card }: Scenario,
  { directory = '', set = [], allow = [] }: PlanOptions = {},
): Promise<PlannedScenario> {
  if (outcome !== undefined) requireSandbox(context, 'an outcome is set at the sandbox');
  const session = { ...(await sessionCard(context, card)), type };
  const isRelative = file !== undefined && file !== '-' && !path.isAbsolute(file);
  const bodyFile = isRelative ? path.join(directory, file) : file;
  const read =
    bodyFile === undefined
      ? await changedBody(context, await exampleFor(context, type), { set, allow })
      : await readBody(context, bodyFile, { set, allow });
  const nameOfBody = bodyFile === undefined ? 'the example body' : bodyName(bodyFile);
  const { body, ...checked } = await checkedBody(context, nameOfBody, read, { sessionType: type, allow });
  return { name, session, body: body as AuthenticateRequest, ...checked, expect, reason, outcome, challenge };
}

interface PlanOptions {
  /** The directory to which the file of the body is relative. */
  readonly directory?: string;
  readonly set?: readonly Setting[];
  readonly allow?: readonly LiftableRule[];
}

async function exampleFor(context: Context, sessionType: SessionType): Promise<unknown> {
  const { templateBody } = await import('./template.ts');
  const type = sessionType === 'customer' ? 'payment-transaction' : 'recurring-transaction';
  return templateBody({ type, category: 'payment', sessionType }, context.clock.now());
}

/** How a command runs scenarios. */
interface ScenarioOptions {
  /** Checks the tenant of the key by a new session. */
  readonly checkTenant: (id: string) => Promise<void>;
  readonly authenticate: (id: string, body: AuthenticateRequest) => Promise<AuthenticationResult>;
  readonly timeoutMs?: number | undefined;
}

/** Creates and authenticates a session, waits for the outcome unless an open challenge is expected, and compares statuses. */
export async function runScenario(
  context: Context,
  client: Client,
  planned: PlannedScenario,
  { checkTenant, authenticate, timeoutMs = 600_000 }: ScenarioOptions,
): Promise<ScenarioResult> {
  const started = context.clock.now();
  const id = await createSession(client, planned);
  if (typeof id !== 'string') return resultOf(planned, id.refused, undefined, undefined, context.clock.now() - started);
  try {
    if (planned.outcome !== undefined) await setOutcome(client, `${planned.outcome}@session ${id}`);
    await checkTenant(id);
    const first = await firstOutcome(authenticate(id, planned.body), planned);
    const got = await reachedStatus(context, client, id, first, planned, timeoutMs);
    const isPlain = planned.reason === undefined && got === 'successful';
    const outcome = isPlain || /^[45]\d\d$/.test(got) ? undefined : await outcomeWithReason(client, id, planned);
    const reasons = [outcome?.authentication_status_reason, outcome?.challenge_cancel_reason];
    const reason = reasons.find((one) => one === planned.reason && one) ?? reasons.find((one) => one) ?? undefined;
    return resultOf(planned, got, reason, id, context.clock.now() - started);
  } catch (error) {
    throw isSvcError(error) ? error.with({ facts: { session: id } }) : error;
  }
}

/** Reads the outcome with its reason. The read may fail if no reason is expected. */
function outcomeWithReason(client: Client, id: string, { reason }: PlannedScenario) {
  const read = reason === undefined ? outcomeIfPossible(client, id) : readOutcome(client.threeDs, id);
  return afterAuthentication(id, 'outcome_unknown', read);
}

/** Creates the session and returns its id, or the status of an expected refusal. */
async function createSession(
  { threeDs }: Client,
  { session, expect }: PlannedScenario,
): Promise<string | { readonly refused: string }> {
  try {
    return (await threeDs.create(session)).id;
  } catch (error) {
    const status = refusalOf(error);
    // An expected 500 is about the authentication. A 500 at this point is a failure of the service.
    if (status === expect && status.startsWith('4')) return { refused: status };
    throw error;
  }
}

/** Returns the HTTP status of a refusal by the service; an empty text if another server responded. */
function refusalOf(error: unknown): string {
  return isSvcError(error) && error.facts?.['not_from_service'] !== true ? String(error.status) : '';
}

async function setOutcome({ any }: Client, outcome: string): Promise<void> {
  await any.send({ method: 'POST', path: '/sandbox/outcomes', key: 'private', body: { outcome } });
}

/** Returns the result of a scenario that ended with an error. */
export function failedResult(planned: PlannedScenario, { code, status, facts }: SvcError): ScenarioResult {
  const { session } = facts ?? {};
  const id = typeof session === 'string' ? session : undefined;
  return resultOf(planned, 'error', status === undefined ? code : `${code}-${status}`, id);
}

/** Returns the result of a scenario. `got` is a status, an HTTP status, or `error`. */
function resultOf(
  { name, expect, ...planned }: PlannedScenario,
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

async function reachedStatus(
  context: Context,
  client: Client,
  id: string,
  first: AuthenticationResult | string,
  planned: PlannedScenario,
  timeoutMs: number,
): Promise<string> {
  if (typeof first === 'string') return first;
  const { authentication_status: status } = first;
  if (!isOpen(first) || status === planned.expect) return status;
  return afterAuthentication(id, 'pending', challengeOutcome(context, client, id, first, planned, timeoutMs));
}

async function challengeOutcome(
  context: Context,
  client: Client,
  id: string,
  first: AuthenticationResult,
  { challenge }: PlannedScenario,
  timeoutMs: number,
): Promise<string> {
  const { authentication_status: status } = first;
  if (status === 'challenge')
    await answerChallenge(context, client, await pageOf(client.threeDs, id, first), challenge);
  const { seen: last, commandTimeout } = await pollUntil(context, {
    poll: () => resultSoFar(client, id),
    isDone: (result) => !isOpen(result),
    limitMs: () => timeoutMs,
  });
  if (commandTimeout) throw commandTimeout;
  return last.authentication_status ?? status;
}

/** Returns the result of an authentication. If a status is expected, returns the HTTP status of a refusal instead of throwing. */
async function firstOutcome(authentication: Promise<AuthenticationResult>, { expect }: PlannedScenario) {
  try {
    return await authentication;
  } catch (error) {
    const status = refusalOf(error);
    if (expect !== undefined && [expect, '424', '500'].includes(status)) return status;
    throw error;
  }
}

const PAGE_LIMITS = { connect: 5_000, headers: 10_000, idle: 5_000, body: 10_000 };

/** Replies to a challenge of the sandbox, on loopback, in place of the cardholder. Reports the page of any other service. */
async function answerChallenge(
  context: Context,
  { transport }: Client,
  page: string | undefined,
  challenge: ChallengeReply,
): Promise<void> {
  const { signal } = context;
  const url = page !== undefined && URL.canParse(page) ? new URL(page) : undefined;
  if (url === undefined || !isLoopbackHost(url.hostname)) return reportPage(context, page, false);
  const { exchange } = await import('../client/http/exchange.ts');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  // A page with a code uses `code`; a page that represents a banking app uses `answer`.
  const body = challenge === 'complete' ? 'answer=approve&code=123456' : 'answer=cancel';
  try {
    (await exchange(transport, { method: 'POST', url, headers, body, limits: PAGE_LIMITS, signal })).discard();
  } catch (error) {
    if (signal.aborted || isSvcError(error)) throw error;
    throw new SvcError('network', 'the challenge page of the sandbox did not respond', { cause: error });
  }
}

export async function firstRequest({ session }: PlannedScenario): Promise<PreviewRequest> {
  return (await import('../client/api/resources.ts')).createSessionRequest(session);
}
