// Shows the page of a challenge to the operator.

import { isSvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext } from '../cli/app/hint.ts';
import { isEmbeddedSandbox } from '../cli/app/service.ts';
import type { Client } from '../client/api/client.ts';
import type { Authentication, AuthenticationResult } from '../schema/three-ds/session.ts';
import { type FailOn, resultWords } from './fail-on.ts';
import { readOutcome, type Sessions } from './outcome.ts';

/** Reports the page of a challenge and the command that waits for the outcome. @returns whether there is a challenge */
export async function reportChallenge(
  context: Context,
  client: Client,
  id: string,
  result: AuthenticationResult,
  { open, wait, failOn }: { readonly open: boolean; readonly wait: boolean; readonly failOn?: FailOn },
): Promise<boolean> {
  const status = result.authentication_status;
  if (status !== 'challenge' && status !== 'decoupled_challenge') return false;
  // The embedded sandbox serves the page only while the command runs.
  const isServed = wait || !isEmbeddedSandbox(context);
  if (status === 'challenge' && isServed) await findPage(context, client, id, result, open);
  noteNext(
    context,
    isServed ? 'to wait for the outcome' : 'for the page of the challenge, and to wait for the outcome',
    resultWords(id, failOn),
  );
  return true;
}

/** Reports the page of a challenge, which only the session may have. */
export async function findPage(
  context: Context,
  client: Client,
  id: string,
  result: Authentication | AuthenticationResult,
  open: boolean,
): Promise<void> {
  const page = await client.bestEffort(({ threeDs }) => pageOf(threeDs, id, result));
  if (isSvcError(page)) context.notices.note(`the address of the challenge page could not be read: ${page.message}`);
  else await reportPage(context, page, open);
}

/** Reports the page of the challenge, and opens it if requested. */
export async function reportPage(context: Context, page: string | undefined, open: boolean): Promise<void> {
  if (page === undefined)
    return context.notices.note('the service gave no address for the challenge: the SDK performs it');
  context.notices.note(`the cardholder completes the challenge at ${page}`);
  // An address that looks signed is shown without its query.
  if (page.includes('?') && !context.globals.showUrls)
    context.notices.note('use --show-urls to see the whole address, or --open to open it');
  if (open) await openPage(context, page);
}

/** Opens an address in a browser. Only warns of a failure, since the operator can open the printed address. */
async function openPage({ system, clock, notices }: Context, address: string): Promise<void> {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    return notices.warn('not opened: the address is neither http nor https');
  const { startBrowser } = await import('../base/security/child-process.ts');
  const opener = OPENERS[system.platform] ?? ['xdg-open'];
  const child = startBrowser(opener, new URL(address).href, system.env);
  const ended = new AbortController();
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true)).once('exit', (code) => resolve(code !== 0));
    // An opener that is still there is the browser itself.
    clock.sleep(OPENING_MS, ended.signal).then(
      () => resolve(false),
      () => undefined,
    );
  });
  ended.abort();
  child.unref();
  if (failed) notices.warn(`no browser could be opened (${opener[0]}); open the address yourself`);
}

/** How long an opener gets to fail. */
const OPENING_MS = 2000;

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Returns the address of the challenge page: from the response to the authentication, else from the session. */
export async function pageOf(
  sessions: Sessions,
  id: string,
  result: Authentication | AuthenticationResult,
): Promise<string | undefined> {
  const { acs_challenge_url: given } = result;
  if (typeof given === 'string' && given !== '') return given;
  return (await readOutcome(sessions, id))?.acs_challenge_url || undefined;
}
