import type { Client } from '../../api/client.ts';
import type { Context } from '../../cli/context.ts';
import type { AuthenticationResult } from '../../schema/three-ds/authentication.ts';
import { sameProfile } from '../../cli/same-profile.ts';
import { sessionOutcome } from './session-outcome.ts';

/**
 * Where an authentication led to a challenge, says how it goes on: the page to open, and the command that gets the
 * outcome. Resolves to whether there is one.
 */
export async function tellChallenge(
  context: Context,
  client: Client,
  id: string,
  result: AuthenticationResult,
  open: boolean,
): Promise<boolean> {
  const status = result.authentication_status;
  if (status !== 'challenge' && status !== 'decoupled_challenge') return false;
  if (status === 'challenge') await tellPage(context, await pageOf(client, id, result), open);
  const command = `svc 3ds challenge-result ${id} --wait`;
  const { globals, settings, notices } = context;
  notices.note(sameProfile(`the outcome: '${command}'`, globals));
  if (settings.sandbox && settings.baseUrl === undefined)
    notices.note(
      'the sandbox inside a command serves that page only while the command runs: that one gives its address and waits',
    );
  return true;
}

/** Says where the cardholder does the challenge, and opens that page when asked to. */
export async function tellPage(context: Context, page: string | undefined, open: boolean): Promise<void> {
  if (page === undefined)
    return context.notices.note('the service gave no address for it: the SDK performs the challenge');
  context.notices.note(`the cardholder does the challenge at ${page}`);
  // What looks like a signed address is shown without its query.
  if (page.includes('?') && !context.globals.showUrls)
    context.notices.note('--show-urls shows the end of an address that is hidden, --open opens it');
  if (!open) return;
  const { openPage } = await import('./open-page.ts');
  await openPage(context, page);
}

/** The answer to an authentication need not hold the address; the session does. */
async function pageOf(
  client: Client,
  id: string,
  { acs_challenge_url: given }: AuthenticationResult,
): Promise<string | undefined> {
  if (typeof given === 'string' && given !== '') return given;
  return (await sessionOutcome(client, id))?.acs_challenge_url || undefined;
}
