import { argument } from '../../cli/app/parameter.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { responsePrinter, warnOfDeprecated } from '../outcome.ts';
import { sessionView } from '../view.ts';

export const show = defineRequestCommand({
  description: 'A table hides personal data and the authentication value; machine formats (-o json) contain them.',
  examples: [
    ['svc 3ds show 5f0c…', 'all data of the session'],
    ['svc 3ds show 5f0c… --fields authentication.authentication_status', 'only the outcome'],
  ],
  permissions: ['3ds:session:read'],
  fields: sessionView.fields,
  parameters: { session: argument('<session>', 'id of a session', textToSend) },
  loggedId: 'session',
  request: async (_, { session: id }) => (await import('../../client/api/resources.ts')).readSessionRequest(id),
  async printer(context) {
    const print = await responsePrinter(context, sessionView);
    return async (session) => {
      await print(session);
      warnOfDeprecated(context, session);
    };
  },
});
