import { authenticateSession } from '../authenticated.ts';
import { bodyParameters, reportBody } from '../body.ts';
import { afterAuthentication } from '../outcome.ts';
import { tenantCheck } from '../read-session.ts';
import {
  type PlannedScenario,
  challengeTimeoutParameter,
  firstRequest,
  planScenario,
  runScenario,
} from '../scenario.ts';
import { comparison, scenarioView, withReason } from '../scenario-result.ts';
import { CHALLENGE_REPLIES, memberParser } from '../suite.ts';
import { SvcError } from '../../base/errors.ts';
import { type Context, Preview, type Result, defineCommand, dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { DOCUMENTS, type Input, choice, rare, reading, suggesting, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { confirmCost } from '../../cli/app/tenant-mark.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import { outcomeExamples } from '../../schema/three-ds/outcome-words.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';

const parameters = {
  card: suggesting(
    { wordsOf: 'test card scenario' },
    value('--card <name>', 'a test card: its scenario, the start of it, or its number', textToSend),
  ),
  token: value('--token <id>', 'a card token, in place of a test card', textToSend),
  tokenIntent: value('--token-intent <id>', 'a card token intent, in place of a test card', textToSend),
  type: suggesting(
    { wordsOf: 'session type' },
    choice('--type <who>', 'who starts the transaction; by default customer', SESSION_TYPES),
  ),
  file: reading(
    value('--file <file|->', 'the body, or - for standard input; by default an example of a payment', text),
    DOCUMENTS,
  ),
  ...bodyParameters,
  expect: suggesting(
    { wordsOf: 'authentication status' },
    value('--expect <status>', 'the expected status, or an HTTP status', memberParser('expect')),
  ),
  reason: suggesting(
    async () => {
      const { wordsIn } = await import('../../cli/glossary/glossary.ts');
      const { default: words } = await import('../glossary.json', { with: { type: 'json' } });
      return [...wordsIn(words, 'authentication status reason'), ...wordsIn(words, 'challenge cancel reason')];
    },
    rare(value('--expect-reason <reason>', 'the expected status reason or cancel reason', memberParser('reason'))),
  ),
  outcome: suggesting(
    { joined: outcomeExamples },
    value('--outcome <outcome>', "what the sandbox does (see 'svc help outcomes')", memberParser('outcome')),
  ),
  challenge: choice('--challenge <reply>', 'how to answer a challenge of the sandbox', CHALLENGE_REPLIES),
  challengeTimeout: challengeTimeoutParameter,
  dryRun: dryRunParameter,
} as const;

export const run = defineCommand({
  description:
    'Creates a session, authenticates it, waits for the outcome of a challenge unless an open one is expected, and compares the status, or only shows it without --expect. Challenges of the sandbox are answered by svc, those of a test tenant by you. A retry never repeats an authentication.',
  examples: [
    ['svc --sandbox 3ds run --card Rejected', 'the outcome of a test card of the sandbox'],
    ['svc --sandbox 3ds run --card "Authentication Failed" --expect failed', 'exit code 10 for another status'],
    ['svc 3ds run --token 5f0c… --file body.json --expect successful', 'a card token of a test tenant'],
    [
      'svc --sandbox 3ds run --card "Successful Challenge" --challenge cancel --expect failed',
      'a cardholder who cancels',
    ],
    [
      'svc --sandbox 3ds run --card "Successful Frictionless" --outcome reason=card-expired --expect failed',
      'a status reason that no test card has',
    ],
  ],
  permissions: ['3ds:session:create', '3ds:session:authenticate', '3ds:session:read'],
  exitCodes: [9, [10, 'the status is not the expected one'], [11, 'the challenge is still open'], 13, 130],
  changes: true,
  fields: scenarioView.fields,
  parameters,
  async run(context, input): Promise<Result> {
    const print = await recordPrinter(context, scenarioView);
    const planned = await planOf(context, input);
    if (input.dryRun) return new Preview(await firstRequest(planned));
    reportBody(context, planned);
    await confirmCost(context, 'run the scenario', { unchanged: 'nothing was sent' });
    const client = await context.client();
    const result = await runScenario(context, client, planned, {
      checkTenant: tenantCheck(context, client),
      // The session is new.
      authenticate: (id, body) => authenticateSession(context, client, id, body, { again: true }),
      timeoutMs: input.challengeTimeout,
    });
    const { expected, expected_reason, got, reason, session } = result;
    await (session === null ? print(result) : afterAuthentication(session, 'outcome_unknown', print(result)));
    if (result.result === 'passed') return context.notices.success(`${got}, as expected`);
    if (result.result === 'failed')
      throw new SvcError('threshold', comparison(result), {
        next: ['3ds', 'show', session ?? '<session>'],
        facts: { expected, expected_reason, got, reason, session },
      });
    if (result.result === 'open')
      throw new SvcError('pending', `the challenge is still open (${got})`, {
        hint: 'Complete it, then read the outcome.',
        next: ['3ds', 'challenge-result', session ?? '<session>', '--wait'],
        facts: { session },
        // Another run is billed again.
        retryable: false,
      });
    return noteNext(context, `the outcome is ${withReason(got, reason)}; what it means`, ['explain', got]);
  },
  request: async (context, input) => firstRequest(await planOf(context, input)),
});

function planOf(context: Context, { set, allow, ...input }: Input<typeof parameters>): Promise<PlannedScenario> {
  const { card, token, tokenIntent: token_intent, type = 'customer', file: body, challenge = 'complete' } = input;
  const { expect, reason, outcome } = input;
  const name = card ?? 'token';
  const scenario = { name, card, token, token_intent, type, body, expect, reason, outcome, challenge };
  return planScenario(context, scenario, { set, allow });
}
