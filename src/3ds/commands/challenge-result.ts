import { defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, flag } from '../../cli/app/parameter.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { loggedIds, wholeId } from '../../cli/app/whole-id.ts';
import type { Authentication } from '../../schema/three-ds/session.ts';
import { isOpen } from '../outcome-lines.ts';
import { findPage } from '../challenge-page.ts';
import { checkOutcome, failOnParameter, resultWords } from '../fail-on.ts';
import { orNewSession, reportOutcome, responsePrinter } from '../outcome.ts';
import { isUnshown, resultSoFar, waitForOutcome } from '../wait.ts';
import { authenticationView } from '../view.ts';

export const challengeResult = defineCommand({
  description:
    'With --wait it polls at increasing intervals until there is an outcome: for an hour, or eight days for a decoupled challenge. Without --fail-on the exit code is 0 for every outcome; authentication_status says which one it is.',
  details:
    'With --wait, a 404 does not end the command as long as the session exists: the service may not have the result yet.',
  examples: [
    ['svc 3ds challenge-result 5f0c… --wait', 'until the cardholder is done'],
    ['svc 3ds challenge-result 5f0c… --wait --timeout 10m', 'exit code 11 if it is still open then'],
  ],
  permissions: ['3ds:session:authenticate'],
  exitCodes: [[10, '--fail-on was met'], [11, 'the challenge is still open (with --wait)'], 130],
  fields: authenticationView.fields,
  parameters: {
    session: argument('<session>', 'id of a session', textToSend),
    wait: flag('--wait', 'wait for the outcome of a challenge or decoupled challenge'),
    open: flag('--open', 'open the page of the challenge in the browser, with --wait'),
    failOn: failOnParameter,
  },
  async run(context, { session: typed, wait, open, failOn }) {
    const print = await responsePrinter(context, authenticationView);
    const client = await context.client();
    const id = await wholeId(context, typed, () => loggedIds(client));
    const first = await orNewSession<Authentication>(
      wait ? resultSoFar(client, id) : client.threeDs.challengeResult(id),
    );
    const mustWait = wait && isOpen(first);
    if (mustWait && first.authentication_status === 'challenge') await findPage(context, client, id, first, open);
    if (mustWait && isUnshown(first))
      context.notices.note(
        'the service shows no authentication of this session: it is open, or nobody has authenticated it yet',
      );
    const result = mustWait ? await orNewSession(waitForOutcome(context, client, id, { known: first, failOn })) : first;
    await print(result);
    await reportOutcome(context, client, id, result);
    if (isOpen(result)) noteNext(context, 'to wait for the outcome', resultWords(id, failOn));
    checkOutcome(id, result, failOn);
  },
  request: async (_, { session: id }) => (await import('../../client/api/resources.ts')).challengeResultRequest(id),
});
