import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { defineCommand, dryRunParameter, Preview, type PreviewRequest, type Result } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, choice, flag, type Input, text, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { Authentication, CreatedSession, CreateSession } from '../../schema/three-ds/session.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';
import { isOpen } from '../explain.ts';
import {
  checkOutcome,
  failOnParameter,
  orNewSession,
  reportOutcome,
  reportPage,
  responsePrinter,
  resultSoFar,
  waitForOutcome,
  warnOfDeprecated,
} from '../outcome.ts';
import { authenticationView, sessionView } from '../view.ts';

const createdSessionView: View<CreatedSession> = {
  name: '3DS session',
  fields: fieldPaths(`
    id type card_brand method_url method_notification_url directory_server_id recommended_version
  `),
  columns: [{ path: 'id', kind: 'id' }],
};

const parameters = {
  token: value('--token <id>', 'the card token', text),
  tokenIntent: value('--token-intent <id>', 'the card token intent, in place of a token', text),
  panToken: value('--pan-token <id>', 'the card token, sent by its deprecated name pan', text),
  type: choice('--type <who>', 'who starts the transaction: the customer, or the merchant alone', SESSION_TYPES),
  dryRun: dryRunParameter,
} as const;

export const create = defineCommand({
  examples: [
    ['svc 3ds create --token 5f0c… --type customer', 'the cardholder is present and pays'],
    ['svc 3ds create --token 5f0c… --type merchant --fields id', 'a payment without the cardholder; only the id'],
  ],
  permissions: ['3ds:session:create'],
  exitCodes: [9, 13],
  changes: true,
  fields: createdSessionView.fields,
  parameters,
  async run(context, input): Promise<Result> {
    const body = toBody(input);
    const print = await recordPrinter(context, createdSessionView);
    if (input.dryRun) return new Preview(await createRequest(body));
    const client = await context.client();
    if (body.pan !== undefined) context.notices.warn('pan is deprecated: use --token instead');
    const session = await client.threeDs.create(body);
    await print(session);
    const method = session.method_url
      ? 'the SDK in the browser sends the method request to method_url; then authenticate'
      : 'to authenticate';
    noteNext(context, method, ['3ds', 'authenticate', session.id, '--file', '<body>']);
  },
  request: async (_, input) => createRequest(toBody(input)),
});

async function createRequest(body: CreateSession): Promise<PreviewRequest> {
  return (await import('../../client/api/resources.ts')).createSessionRequest(body);
}

function toBody({ token, tokenIntent, panToken, type }: Input<typeof parameters>): CreateSession {
  const given = [token, tokenIntent, panToken].filter((id) => id !== undefined);
  if (given.length !== 1) {
    throw new SvcError('usage', 'one of --token, --token-intent and --pan-token is needed', {
      hint: 'Give exactly one of them.',
    });
  }
  if (type === undefined)
    throw new SvcError('usage', '--type is needed', { hint: 'Give --type customer or --type merchant.' });
  if (given.some((id) => containsCardNumber(id, 'cell'))) {
    throw new SvcError('refused_input', 'the token looks like a card number; nothing was sent', {
      hint: 'Give the id of the token that holds the card.',
    });
  }
  if (panToken !== undefined) return { pan: panToken, type };
  return token === undefined ? { token_intent_id: tokenIntent, type } : { token_id: token, type };
}

export const show = defineCommand({
  description:
    'A table hides personal data and the authentication value; machine formats (-o json) hold them as the service sent them.',
  examples: [
    ['svc 3ds show 5f0c…', 'all data of the session'],
    ['svc 3ds show 5f0c… --fields authentication.authentication_status', 'only the outcome'],
  ],
  permissions: ['3ds:session:read'],
  fields: sessionView.fields,
  parameters: { session: argument('<session>', 'id of a session', text) },
  async run(context, { session: id }) {
    const print = await responsePrinter(context, sessionView);
    const client = await context.client();
    const session = await client.threeDs.read(id);
    await print(session);
    warnOfDeprecated(context, session);
  },
  request: async (_, { session: id }) => (await import('../../client/api/resources.ts')).readSessionRequest(id),
});

export const challengeResult = defineCommand({
  description:
    'With --wait it polls at increasing intervals until there is an outcome: for an hour, or eight days for a decoupled challenge. A result that the service does not have yet (404) is waited for as long as the session exists. The exit code is 0 for every outcome, unless --fail-on is given; the outcome is in authentication_status.',
  examples: [
    ['svc 3ds challenge-result 5f0c… --wait', 'until the cardholder is done'],
    ['svc 3ds challenge-result 5f0c… --wait --timeout 10m', 'exit code 11 if it is still open then'],
  ],
  permissions: ['3ds:session:authenticate'],
  exitCodes: [10, 11, 130],
  fields: authenticationView.fields,
  parameters: {
    session: argument('<session>', 'id of a session', text),
    wait: flag('--wait', 'wait for the outcome of a challenge or decoupled challenge'),
    open: flag('--open', 'open the page of the challenge in the browser, with --wait'),
    failOn: failOnParameter,
  },
  async run(context, { session: id, wait, open, failOn }) {
    const print = await responsePrinter(context, authenticationView);
    const client = await context.client();
    const first = await orNewSession<Authentication>(
      wait ? resultSoFar(client, id) : client.threeDs.challengeResult(id),
    );
    const { acs_challenge_url: page, authentication_status: status } = first;
    const mustWait = wait && isOpen(first);
    if (mustWait && status === 'challenge' && page) await reportPage(context, page, open);
    const result = mustWait ? await orNewSession(waitForOutcome(context, client, id, first)) : first;
    await print(result);
    await reportOutcome(context, client, id, result);
    if (isOpen(result)) noteNext(context, 'to wait for the outcome', ['3ds', 'challenge-result', id, '--wait']);
    checkOutcome(id, result, failOn);
  },
  request: async (_, { session: id }) => (await import('../../client/api/resources.ts')).challengeResultRequest(id),
});
