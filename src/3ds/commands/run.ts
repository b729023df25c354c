import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { type Context, defineCommand, dryRunParameter, Preview, type Result } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { DOCUMENTS, choice, type Input, rare, reading, suggesting, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { confirmCost } from '../../cli/app/tenant-mark.ts';
import { text, type ValueParser } from '../../cli/app/value-parsers.ts';
import { outcomeExamples } from '../../schema/three-ds/outcome-words.ts';
import { AUTHENTICATION_STATUSES, SESSION_TYPES } from '../../schema/three-ds/values.ts';
import { bodyParameters, reportBody } from '../body.ts';
import { afterAuthentication } from '../outcome.ts';
import {
  challengeTimeoutParameter,
  type PlannedScenario,
  planScenario,
  runScenario,
  scenarioView,
  firstRequest,
} from '../scenario.ts';
import { CHALLENGE_REPLIES, isExpectation, isOutcome, REASONS } from '../suite.ts';
import { challengeOpen, unexpectedOutcome } from '../three-ds-errors.ts';

const tokenId: ValueParser<string> = (typed) => {
  if (!containsCardNumber(text(typed), 'cell')) return typed;
  throw new SvcError('refused_input', 'looks like a card number; nothing was sent', {
    hint: 'Give the id of the card token, or the masked number of a test card.',
  });
};

const expectation: ValueParser<string> = (typed) => {
  if (isExpectation(typed)) return typed;
  throw new SvcError('usage', `must be ${AUTHENTICATION_STATUSES.join(', ')}, or an HTTP status such as 424`, {
    hint: didYouMean(typed, AUTHENTICATION_STATUSES),
  });
};

const reasonName: ValueParser<string> = (typed) => {
  if (REASONS.includes(typed)) return typed;
  const hint = didYouMean(typed, REASONS);
  throw new SvcError('usage', 'must be a status reason or a cancel reason', { hint, next: ['explain'] });
};

const outcomeText: ValueParser<string> = (typed) => {
  if (isOutcome(typed)) return typed;
  throw new SvcError('usage', 'must be an outcome such as reason=card-expired', { next: ['help', 'outcomes'] });
};

const parameters = {
  card: suggesting(
    { wordsOf: 'test card scenario' },
    value('--card <name>', 'a test card: its scenario, the start of it, or its number', tokenId),
  ),
  token: value('--token <id>', 'a card token, in place of a test card', tokenId),
  tokenIntent: value('--token-intent <id>', 'a card token intent, in place of a test card', tokenId),
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
    value('--expect <status>', 'the expected status, or an HTTP status', expectation),
  ),
  reason: suggesting(
    async () => {
      const { wordsIn } = await import('../../cli/glossary/glossary.ts');
      const { default: words } = await import('../glossary.json', { with: { type: 'json' } });
      return [...wordsIn(words, 'authentication status reason'), ...wordsIn(words, 'challenge cancel reason')];
    },
    rare(value('--expect-reason <reason>', 'the expected status reason or cancel reason', reasonName)),
  ),
  outcome: suggesting(
    { joined: outcomeExamples },
    value('--outcome <outcome>', "what the sandbox does (see 'svc help outcomes')", outcomeText),
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
    const result = await runScenario(context, client, planned, input.challengeTimeout);
    const { got, reason, session } = result;
    await (session === null ? print(result) : afterAuthentication(session, 'outcome_unknown', print(result)));
    if (result.result === 'passed') return context.notices.success(`${got}, as expected`);
    if (result.result === 'open') throw challengeOpen(result);
    if (result.result !== 'completed') throw unexpectedOutcome(result);
    const why = reason === null ? '' : ` (${reason})`;
    return noteNext(context, `the outcome is ${got}${why}; what it means`, ['explain', got]);
  },
  request: async (context, input) => firstRequest(await planOf(context, input)),
});

async function planOf(context: Context, input: Input<typeof parameters>): Promise<PlannedScenario> {
  const {
    card,
    token,
    tokenIntent,
    type = 'customer',
    file: body,
    set,
    allow,
    expect,
    reason,
    outcome,
    challenge = 'complete',
  } = input;
  const given = [card, token, tokenIntent].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw new SvcError('usage', 'exactly one of --card, --token and --token-intent is required', {
      hint: 'The test cards of the sandbox:',
      next: ['sandbox', 'cards', '--3ds'],
    });
  const name = card ?? 'token';
  const scenario = { name, card, token, token_intent: tokenIntent, type, body, expect, reason, outcome, challenge };
  return planScenario(context, scenario, { set, allow });
}
