import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { choice, type Input, value } from '../../cli/app/parameter.ts';
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
  token: value('--token <id>', 'the card token', text),
  tokenIntent: value('--token-intent <id>', 'the card token intent, in place of a token', text),
  panToken: value('--pan-token <id>', 'the card token, under its deprecated name', text),
  type: choice('--type <who>', 'who starts the transaction', SESSION_TYPES),
  dryRun: dryRunParameter,
} as const;

export const create = defineRequestCommand({
  examples: [
    ['svc 3ds create --token 5f0c… --type customer', 'the cardholder is present and pays'],
    ['svc 3ds create --token 5f0c… --type merchant --fields id', 'a payment without the cardholder; only the id'],
  ],
  permissions: ['3ds:session:create'],
  exitCodes: [9, 13],
  changes: true,
  fields: createdSessionView.fields,
  parameters,
  async request(_, input) {
    const body = toBody(input);
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
      hint: 'Give the id of the card token.',
    });
  }
  if (panToken !== undefined) return { pan: panToken, type };
  return token === undefined ? { token_intent_id: tokenIntent, type } : { token_id: token, type };
}
