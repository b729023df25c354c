// Runs a test scenario: session, authentication, challenge, and the comparison with the expected status.

import path from 'node:path';
import { isSvcError } from '../base/errors.ts';
import type { Context, PreviewRequest } from '../cli/app/command.ts';
import { value } from '../cli/app/parameter.ts';
import { positiveDuration } from '../cli/app/value-parsers.ts';
import type { Client } from '../client/api/client.ts';
import { pollUntil } from '../client/api/poll.ts';
import type { AuthenticateRequest } from '../schema/three-ds/authenticate.ts';
import type { AuthenticationResult, CreateSession } from '../schema/three-ds/session.ts';
import type { SessionType } from '../schema/three-ds/values.ts';
import { bodyName, changedBody, type CheckedBody, checkedBody, readBody } from './body.ts';
import type { LiftableRule } from './rules.ts';
import { isOpen } from './outcome-lines.ts';
import { pageOf } from './challenge-page.ts';
import { afterAuthentication, outcomeIfPossible, readOutcome } from './outcome.ts';
import { resultSoFar } from './wait.ts';
import type { Setting } from './setting.ts';
import type { Scenario } from './suite.ts';
import { requireSandbox, sessionCard } from './session-card.ts';
import { type ScenarioResult, resultOf } from './scenario-result.ts';
import { answerChallenge } from './answer-challenge.ts';

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

export async function firstRequest({ session }: PlannedScenario): Promise<PreviewRequest> {
  return (await import('../client/api/resources.ts')).createSessionRequest(session);
}
