// Reports the outcome of an authentication, shows the page of a challenge, and waits for its end.

import { type ErrorCode, type ErrorDetails, isSvcError, SvcError } from '../base/errors.ts';
import { memberWithText } from '../base/json/exact.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext, option } from '../cli/app/hint.ts';
import { choice } from '../cli/app/parameter.ts';
import { isForPeople, recordPrinter } from '../cli/app/print.ts';
import type { View } from '../cli/output/view.ts';
import type { Client } from '../client/api/client.ts';
import { type PollResult, pollUntil } from '../client/api/poll.ts';
import { DAY_MS, HOUR_MS } from '../schema/durations.ts';
import type { Authentication, AuthenticationResult, ThreeDsSession } from '../schema/three-ds/session.ts';
import { AUTHENTICATION_STATUSES } from '../schema/three-ds/values.ts';
import { isOpen, outcomeLines } from './outcome-lines.ts';
import { maskedResponse, statusTone } from './view.ts';

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
  const { settings } = context;
  // The embedded sandbox serves the page only while the command runs.
  const isServed = wait || !settings.sandbox || settings.baseUrl !== undefined;
  if (status === 'challenge' && isServed) {
    const page = await client.bestEffort(({ threeDs }) => pageOf(threeDs, id, result));
    if (isSvcError(page)) context.notices.note(`the address of the challenge page could not be read: ${page.message}`);
    else await reportPage(context, page, open);
  }
  noteNext(
    context,
    isServed ? 'to wait for the outcome' : 'for the page of the challenge, and to wait for the outcome',
    resultWords(id, failOn),
  );
  return true;
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
async function openPage({ system, notices }: Context, address: string): Promise<void> {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    return notices.warn('not opened: the address is neither http nor https');
  const { startBrowser } = await import('../base/security/child-process.ts');
  const opener = OPENERS[system.platform] ?? ['xdg-open'];
  const child = startBrowser(opener, new URL(address).href, system.env);
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true)).once('spawn', () => resolve(false));
  });
  child.unref();
  if (failed) notices.warn(`no browser could be opened (${opener[0]}); open the address yourself`);
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Returns the address of the challenge page: from the response to the authentication, else from the session. */
export async function pageOf(
  sessions: Sessions,
  id: string,
  result: AuthenticationResult,
): Promise<string | undefined> {
  const { acs_challenge_url: given } = result;
  if (typeof given === 'string' && given !== '') return given;
  return (await readOutcome(sessions, id))?.acs_challenge_url || undefined;
}

/** Explains an outcome on stderr: its meaning, who bears the loss, and what to do next. */
export async function reportOutcome(context: Context, client: Client, id: string, last: Authentication): Promise<void> {
  const { notices } = context;
  if (!notices.shows('normal')) return;
  const more =
    !isOpen(last) && last.authentication_status !== 'successful' ? await outcomeIfPossible(client, id) : undefined;
  const [first = '', ...lines] = outcomeLines({ ...reasonsOf(more), ...reasonsOf(last), ...last });
  const tone = statusTone(last.authentication_status);
  if (tone === 'good') notices.success(first);
  else if (tone === 'bad') notices.failure(first);
  else notices.note(first);
  for (const line of lines) notices.note(line);
  if (!more?.cardholder_info) return;
  const words = ['3ds', 'show', id, '-o', 'json', '--fields', 'authentication.cardholder_info'];
  noteNext(context, 'the issuer has a text for the cardholder', words);
}

function reasonsOf(outcome: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const names = ['authentication_status_reason', 'challenge_cancel_reason'];
  return Object.fromEntries(
    names.flatMap((name) => (typeof outcome[name] === 'string' ? [[name, outcome[name]]] : [])),
  );
}

type Sessions = Pick<Client['threeDs'], 'read'>;

/** Reads the outcome from the session, which has reasons and addresses that the response may lack. */
export async function readOutcome(sessions: Sessions, id: string): Promise<Authentication | undefined> {
  return memberWithText(await sessions.read(id), 'authentication') ?? undefined;
}

/** Like `readOutcome`, but optional: returns undefined if the session cannot be read within 2 s. */
export async function outcomeIfPossible(client: Client, id: string): Promise<Authentication | undefined> {
  const outcome = await client.bestEffort(({ threeDs }) => readOutcome(threeDs, id));
  return isSvcError(outcome) ? undefined : outcome;
}

/** The codes of errors after which the outcome can be read later. */
const OUTCOME_UNREAD_CODES: ReadonlySet<ErrorCode> = new Set([
  'network',
  'server',
  'bad_response',
  'rate_limited',
  'timeout',
  'pending',
]);

/**
 * Runs work after a successful authentication, and adds to its errors the command that reads the outcome. The failed command
 * must not run again, because another authentication is billed. If only the outcome could not be read, the error gets `code`.
 */
export async function afterAuthentication<T>(
  id: string,
  code: 'pending' | 'outcome_unknown',
  work: Promise<T>,
  failOn?: FailOn,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const named = { next: resultWords(id, failOn), facts: { session: id }, retryable: false };
    if (!OUTCOME_UNREAD_CODES.has(error.code)) throw error.with(named);
    const message = error.message.includes(id)
      ? error.message
      : `3DS session ${id} was authenticated: ${error.message}`;
    throw error.with({ ...named, code, message, hint: 'Read its outcome; do not authenticate it again.' });
  }
}

/** Statuses after which a session is unusable, with the reasons. */
const SPENT: ReadonlyMap<number | undefined, string> = new Map([
  [409, 'A session can be authenticated once'],
  [424, 'Another party in 3-D Secure returned an error'],
]);

/** Runs work with a session, and adds to its refusals that a new session is needed if this one is unusable now. */
export async function orNewSession<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const why = isSvcError(error, 'rejected') ? SPENT.get(error.status) : undefined;
    if (!isSvcError(error) || why === undefined) throw error;
    throw error.with({
      hint: `${why}: create a new session.`,
      next: ['3ds', 'create', '--token', '<id>', '--type', '<type>'],
    });
  }
}

export function warnOfDeprecated({ notices }: Context, session: ThreeDsSession): void {
  const deprecated = [
    ...(session.pan_token_id ? ['pan_token_id'] : []),
    ...(session['pan'] ? ['pan'] : []),
    ...(session.authentication?.pan_token_id ? ['authentication.pan_token_id'] : []),
  ];
  if (deprecated.length > 0) notices.warn(`deprecated: ${deprecated.join(', ')}; use token_id instead`);
}

/** Returns the function that prints a 3DS response: masked in a table, with a note; as sent in other formats. */
export async function responsePrinter<T extends object>(context: Context, view: View<T>) {
  const print = await recordPrinter(context, view);
  return async (response: T): Promise<void> => {
    if (!isForPeople(context)) return print(response);
    const { shown, hidden } = maskedResponse(response);
    await print(shown);
    if (hidden > 0) context.notices.note('personal data and authentication values are hidden; use -o json to see them');
  };
}

/** A decoupled challenge may take a week. */
const EIGHT_DAYS_MS = 8 * DAY_MS;

/**
 * Waits until the challenge of a session has an outcome: up to an hour, or eight days for a decoupled challenge. Errors name
 * the command that continues to wait.
 * @throws SvcError `pending` when the time is up, and the signal's reason
 */
export async function waitForOutcome(
  context: Context,
  client: Client,
  id: string,
  { known, failOn }: { readonly known: Authentication; readonly failOn?: FailOn },
): Promise<Authentication> {
  const shown = context.progress.waiting(`3DS session ${id}`);
  let status = known.authentication_status;
  try {
    const { seen: last, commandTimeout } = await pollUntil<Authentication>(context, {
      poll: async () => {
        const result = await resultSoFar(client, id);
        // Null means that the session shows no status; undefined means that the session could not be read.
        status = result.authentication_status ?? status ?? result.authentication_status;
        return result;
      },
      isDone: (result) => !isOpen(result),
      limitMs: () => (status === 'decoupled_challenge' ? EIGHT_DAYS_MS : HOUR_MS),
      onPoll: (result, nextMs) =>
        shown.update({ state: stateOf(result, status), nextPollAt: context.clock.now() + nextMs }),
    });
    if (isOpen(last))
      throw stillOpen(id, commandTimeout ?? new SvcError('pending', 'there is no outcome yet'), status, failOn);
    shown.done(last.authentication_status ?? undefined);
    return last;
  } catch (error) {
    shown.done();
    throw withResumeHint(error, id, status, failOn);
  }
}

/**
 * Reads the result of a challenge. While a challenge is open, the service may respond with 404. Then this returns the
 * authentication in the session, with status null if the session shows none, or `{}` if the key may not read sessions.
 * @throws SvcError `not_found` if the session does not exist either
 */
export async function resultSoFar({ threeDs }: Client, id: string): Promise<Authentication> {
  try {
    return await threeDs.challengeResult(id);
  } catch (error) {
    if (!isSvcError(error, 'not_found')) throw error;
  }
  try {
    const authentication = memberWithText(await threeDs.read(id), 'authentication');
    return authentication?.authentication_status ? authentication : { ...authentication, authentication_status: null };
  } catch (error) {
    if (isSvcError(error, 'unauthorized', 'forbidden')) return {};
    throw error;
  }
}

function stateOf(result: PollResult<Authentication>, status: Status): string {
  if (!('seen' in result)) return `no response (${result.error.message})`;
  return result.seen.authentication_status ?? (status === null ? 'no authentication shown' : 'open');
}

/** Whether the session was read and shows no authentication, as `resultSoFar` returns it. */
export function isUnshown({ authentication_status: status }: Authentication): boolean {
  return status === null;
}

/** The outcomes at which a command exits with 10, as typed. */
type FailOn = 'err' | 'wrn' | undefined;

/** Returns the command that waits for the outcome of a session, with the same `--fail-on`. */
export function resultWords(id: string, failOn?: FailOn): string[] {
  return ['3ds', 'challenge-result', id, '--wait', ...option('--fail-on', failOn)];
}

type Status = Authentication['authentication_status'];

function withResumeHint(error: unknown, id: string, status: Status, failOn: FailOn): unknown {
  if (isSvcError(error, 'timeout')) return stillOpen(id, error, status, failOn);
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
  const message = `${error.message}; ${status === null ? UNSHOWN : 'the challenge continues without svc'}`;
  return error.with({ message, ...resumeHint(id, failOn) });
}

function stillOpen(id: string, why: SvcError, status: Status, failOn: FailOn): SvcError {
  const found =
    status === null ? `${UNSHOWN} of 3DS session ${id}` : `the challenge of 3DS session ${id} is still open`;
  return why.with({ code: 'pending', message: `${found}: ${why.message}`, ...resumeHint(id, failOn) });
}

// Says "shows no", since a session may show its authentication only when the challenge is done.
const UNSHOWN = 'the service shows no authentication';

function resumeHint(id: string, failOn: FailOn): ErrorDetails {
  return { hint: undefined, next: resultWords(id, failOn), facts: { session: id } };
}

export const failOnParameter = choice(
  '--fail-on <class>',
  'exit with 10 when it failed, was rejected or has an unknown status (err), or did not succeed (wrn)',
  ['err', 'wrn'],
);

/** Checks the outcome against `--fail-on`. @throws SvcError `threshold` */
export function checkOutcome(id: string, { authentication_status: status }: Authentication, failOn: FailOn) {
  if (failOn === undefined) return;
  const isUnknown = Boolean(status) && !AUTHENTICATION_STATUSES.some((known) => known === status);
  const isError = status === 'failed' || status === 'rejected' || isUnknown;
  const isGood = status === 'successful' || status === 'attempted';
  if (isGood || (failOn === 'err' && !isError)) return;
  throw new SvcError('threshold', `the outcome of 3DS session ${id} meets --fail-on ${failOn}`, {
    hint: 'The lines above say what it means and what to do next.',
    facts: { session: id, authentication_status: status ?? null },
  });
}
