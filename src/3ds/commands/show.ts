import { defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { responsePrinter, warnOfDeprecated } from '../outcome.ts';
import { sessionView } from '../view.ts';

export const show = defineCommand({
  description:
    'A table hides personal data and the authentication value; machine formats (-o json) contain them as the service sent them.',
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
