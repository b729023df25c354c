import { defineCommand } from '../../cli/command.ts';
import { argument, flag } from '../../cli/parameter.ts';
import { text } from '../../cli/values.ts';
import { isOpen } from '../../three-ds/outcome.ts';
import { challengeResultView } from '../../views/three-ds.ts';
import { answerPrinter } from './answer-printer.ts';
import { orNewSession } from './new-session.ts';
import { tellOutcome } from './tell-outcome.ts';
import { waitForOutcome } from './wait-for-outcome.ts';

/** `svc 3ds challenge-result` */
export const challengeResult = defineCommand({
  name: 'challenge-result',
  summary: 'what came of a challenge, at once or when it is done',
  description:
    'With --wait it looks again, less and less often, until there is an outcome: for an hour, or eight days for a decoupled challenge. The exit code is 0 for every outcome; it is in authentication_status.',
  examples: [
    ['svc 3ds challenge-result 5f0c… --wait', 'until the cardholder is done'],
    ['svc 3ds challenge-result 5f0c… --wait --timeout 10m', 'exit code 11 when it is still open then'],
  ],
  permissions: ['3ds:session:authenticate'],
  exitCodes: [11, 130],
  parameters: {
    session: argument('<session>', 'id of a session', text),
    wait: flag('--wait', 'wait for the outcome of a challenge or decoupled challenge'),
  },
  async run(context, { session: id, wait }) {
    const print = await answerPrinter(context, challengeResultView);
    const client = await context.client();
    const result = await orNewSession(
      wait ? waitForOutcome(context, client, id) : client.threeDs.challengeResult(id),
    );
    await print(result);
    await tellOutcome(context, client, id, result);
    if (isOpen(result))
      context.notices.note(`to wait for the outcome: svc 3ds challenge-result ${id} --wait`);
  },
});
