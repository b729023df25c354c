import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { type Context, dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { choice, type Input, suggesting, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { CreatedSession, CreateSession } from '../../schema/three-ds/session.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';

const createdSessionView: View<CreatedSession> = {
  name: '3DS session',
  fields: fieldPaths(`
    id type card_brand method_url method_notification_url directory_server_id recommended_version
  `),
  columns: [{ path: 'id', kind: 'id' }],
};

const parameters = {
  card: suggesting(
    { wordsOf: 'test card scenario' },
    value('--card <scenario>', 'a test card of the sandbox, by its scenario or the start of it', text),
  ),
  token: value('--token <id>', 'the card token', text),
  tokenIntent: value('--token-intent <id>', 'the card token intent, in place of a token', text),
  panToken: value('--pan-token <id>', 'the card token, under its deprecated name', text),
  type: choice('--type <who>', 'who starts the transaction; by default customer', SESSION_TYPES),
  dryRun: dryRunParameter,
} as const;

export const create = defineRequestCommand({
  examples: [
    ['svc 3ds create --token 5f0c…', 'the cardholder is present and pays'],
    ['svc --sandbox 3ds create --card Rejected', 'a test card of the sandbox'],
    ['svc 3ds create --token 5f0c… --type merchant --fields id', 'a payment without the cardholder, only the id'],
  ],
  permissions: ['3ds:session:create'],
  exitCodes: [9, 13],
  changes: true,
  fields: createdSessionView.fields,
  parameters,
  async request(context, input) {
    const body = toBody(await withCard(context, input));
    return (await import('../../client/api/resources.ts')).createSessionRequest(body);
  },
  async printer(context, { panToken, dryRun }) {
    const print = await recordPrinter(context, createdSessionView);
    if (panToken !== undefined && !dryRun) context.notices.warn('pan is deprecated: use --token instead');
    return async (session) => {
      await print(session);
      const method = session.method_url
        ? 'the SDK in the browser sends the method request to method_url; then authenticate'
        : 'to authenticate';
      noteNext(context, method, ['3ds', 'authenticate', session.id, '--file', '<body>']);
    };
  },
});

type CreateInput = Input<typeof parameters>;

/** Replaces a test card by its token. */
async function withCard(context: Context, { card, ...input }: CreateInput): Promise<Omit<CreateInput, 'card'>> {
  if (card === undefined) return input;
  if (input.token !== undefined) throw notOne();
  if (containsCardNumber(card, 'cell')) throw looksLikeCardNumber();
  const { tokenOfTestCard } = await import('../scenario.ts');
  return { ...input, token: await tokenOfTestCard(context, card) };
}

function notOne(): SvcError {
  return new SvcError('usage', 'one of --token, --token-intent, --pan-token and --card is needed', {
    hint: 'Give exactly one of them.',
  });
}

function looksLikeCardNumber(): SvcError {
  return new SvcError('refused_input', 'the token looks like a card number; nothing was sent', {
    hint: 'Give the id of the card token.',
  });
}

function toBody({ token, tokenIntent, panToken, type = 'customer' }: Omit<CreateInput, 'card'>): CreateSession {
  const given = [token, tokenIntent, panToken].filter((id) => id !== undefined);
  if (given.length !== 1) throw notOne();
  if (given.some((id) => containsCardNumber(id, 'cell'))) throw looksLikeCardNumber();
  if (panToken !== undefined) return { pan: panToken, type };
  if (tokenIntent !== undefined) return { token_intent_id: tokenIntent, type };
  if (token === undefined) throw notOne();
  return { token_id: token, type };
}
