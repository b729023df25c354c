import { defineCommand } from '../../cli/command.ts';
import { argument } from '../../cli/parameter.ts';
import { text } from '../../cli/values.ts';
import { sessionView } from '../../views/three-ds.ts';
import { answerPrinter } from './answer-printer.ts';
import { warnOfDeprecated } from './warn-of-deprecated.ts';

/** `svc 3ds show` */
export const show = defineCommand({
  name: 'show',
  summary: 'one session: its card, device, versions and outcome',
  description:
    'A table hides personal data and the authentication value; machine formats (-o json) hold them as the service sent them.',
  examples: [
    ['svc 3ds show 5f0c…', 'what is known of the session'],
    ['svc 3ds show 5f0c… --fields authentication.authentication_status', 'only the outcome'],
  ],
  permissions: ['3ds:session:read'],
  fields: sessionView.fields,
  parameters: { session: argument('<session>', 'id of a session', text) },
  async run(context, { session: id }) {
    const print = await answerPrinter(context, sessionView);
    const client = await context.client();
    const session = await client.threeDs.read(id);
    await print(session);
    warnOfDeprecated(context, session);
  },
  async request(_, { session: id }) {
    return (await import('../../api/three-ds.ts')).readSessionRequest(id);
  },
});
