import { authenticatedBefore, authenticateSession, wasAuthenticated } from '../authenticated.ts';
import { bodyName, bodyParameters, checkedBody, readBody, reportBody } from '../body.ts';
import { reportChallenge } from '../challenge-page.ts';
import { checkOutcome, failOnParameter } from '../fail-on.ts';
import { afterAuthentication, orNewSession, reportOutcome, responsePrinter, warnOfDeprecated } from '../outcome.ts';
import { readSession } from '../read-session.ts';
import { authenticationView } from '../view.ts';
import { waitForOutcome } from '../wait.ts';
import { SvcError } from '../../base/errors.ts';
import { type Context, Preview, type Result, defineCommand, dryRunParameter } from '../../cli/app/command.ts';
import { DOCUMENTS, argument, flag, reading, value } from '../../cli/app/parameter.ts';
import { confirmCost } from '../../cli/app/tenant-mark.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import { loggedIds, wholeId } from '../../cli/app/whole-id.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import type { Authentication, ThreeDsSession } from '../../schema/three-ds/session.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';

export const authenticate = defineCommand({
  description:
    'Reads the session, checks the body against every rule, and sends it once, if it is valid. A session that was authenticated before is authenticated again only after a question, or with --again. A currency may be given as USD and is sent as 840; the amount is shown first as a person reads it. Without --fail-on the exit code is 0 for every outcome; authentication_status says which one it is.',
  details:
    'The type of the session decides which bodies are valid. If the key may not read sessions (3ds:session:read), the rules that depend on the type are left to the service.',
  examples: [
    ['svc 3ds authenticate 5f0c… --file body.json', 'with a body as svc 3ds template prints it'],
    ['svc 3ds authenticate 5f0c… --file body.json --set purchase_info.amount=1000', 'with another amount'],
    ['svc 3ds authenticate 5f0c… --file - --open --wait < body.json', 'until the end of a challenge'],
  ],
  permissions: ['3ds:session:authenticate'],
  exitCodes: [9, [10, '--fail-on was met'], [11, 'the challenge is still open (with --wait)'], 13, 130],
  changes: true,
  fields: authenticationView.fields,
  parameters: {
    session: argument('<session>', 'id of a session', textToSend),
    file: reading(value('--file <file|->', 'the body, or - for standard input', text), DOCUMENTS),
    ...bodyParameters,
    dryRun: dryRunParameter,
    open: flag('--open', 'open the page of a challenge in the browser'),
    wait: flag('--wait', 'if a challenge is needed, wait for its outcome'),
    again: flag('--again', 'authenticate a session once more, which may be billed again'),
    failOn: failOnParameter,
  },
  async run(context, { session: typed, file, set, allow, open, wait, again, failOn, dryRun }): Promise<Result> {
    const bodyFile = requiredFile(file);
    const print = await responsePrinter(context, authenticationView);
    const read = await readBody(context, bodyFile, { set, allow });
    const client = await context.client();
    const id = await wholeId(context, typed, () => loggedIds(client));
    const session = await readSession(context, client, id, ['the rules that depend on its type']);
    const sessionType = SESSION_TYPES.find((known) => known === session?.type);
    const checked = await checkedBody(context, bodyName(bodyFile), read, { sessionType, allow });
    const request = checked.body as AuthenticateRequest;
    if (session !== undefined) {
      warnOfDeprecated(context, session);
      warnOfExpiry(context, client, session);
    }
    const earlierStatus = session?.authentication?.authentication_status || undefined;
    const earlier = earlierStatus ?? (wasAuthenticated(context, id) ? 'from this machine' : undefined);
    if (earlier !== undefined)
      context.notices.warn(`the session was authenticated before (${earlier}); the service may want a new one`);
    if (dryRun) return new Preview((await import('../../client/api/resources.ts')).authenticateRequest(id, request));
    reportBody(context, checked);
    if (earlier !== undefined && !again) await confirmAgain(context, id, checked.amount_text);
    else
      await confirmCost(context, `authenticate the session${paymentText(checked.amount_text)}`, { unchanged: UNSENT });
    const sending = authenticateSession(context, client, id, request, { again: again || earlier !== undefined });
    const result = await orNewSession(sending);
    const report = async (): Promise<Authentication> => {
      const mustWait = wait && (await reportChallenge(context, client, id, result, { open, wait, failOn }));
      const final = mustWait ? await waitForOutcome(context, client, id, { known: result, failOn }) : result;
      await print(final);
      await reportOutcome(context, client, id, final);
      if (!wait) await reportChallenge(context, client, id, result, { open, wait, failOn });
      return final;
    };
    checkOutcome(id, await orNewSession(afterAuthentication(id, 'pending', report(), failOn)), failOn);
  },
  async request(context, { session: id, file, set, allow }) {
    await readBody(context, requiredFile(file), { set, allow });
    return (await import('../../client/api/resources.ts')).readSessionRequest(id);
  },
});

function requiredFile(file: string | undefined): string {
  if (file !== undefined) return file;
  throw new SvcError('usage', '--file is needed', {
    hint: 'Name a body, or - for standard input. A template is a body to start from.',
    next: ['3ds', 'template', '<type>'],
  });
}

const UNSENT = 'nothing was sent';

function paymentText(amount: string | null): string {
  return amount === null ? '' : ` for ${amount}`;
}

/**
 * Asks before a session is authenticated again. `--yes` is not enough, since a script may use it with every command.
 * @throws SvcError `refused_input` if prompts are not possible
 */
async function confirmAgain(context: Context, id: string, amount: string | null): Promise<void> {
  const prompts = context.prompts();
  if (!prompts.canAsk) throw authenticatedBefore(id);
  await context.reportTenant();
  requireYes(await prompts.promptText(`Send the body again${paymentText(amount)}? [y/N]`, 'Pass --again.'), UNSENT);
}

// Only warns, since the service decides whether a session is expired.
function warnOfExpiry({ notices }: Context, client: Client, session: ThreeDsSession): void {
  const expires = parseTime(session.expiration_date ?? '') ?? NaN;
  if (expires <= client.now())
    notices.warn(`the session expired at ${session.expiration_date}; the service may want a new one`);
}
