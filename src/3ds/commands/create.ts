import { dryRunParameter } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { choice, suggesting, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { CreatedSession } from '../../schema/three-ds/session.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';
import { sessionCard } from '../session-card.ts';

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
    value(
      '--card <scenario>',
      'a test card of the sandbox: its scenario, the start of it, its number or the last four digits',
      textToSend,
    ),
  ),
  token: value('--token <id>', 'the card token', textToSend),
  tokenIntent: value('--token-intent <id>', 'the card token intent, in place of a token', textToSend),
  panToken: value('--pan-token <id>', 'the card token, under its deprecated name', textToSend),
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
    const { card, token, tokenIntent: token_intent, panToken: pan, type = 'customer' } = input;
    const session = await sessionCard(context, { card, token, token_intent, pan });
    return (await import('../../client/api/resources.ts')).createSessionRequest({ ...session, type });
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
