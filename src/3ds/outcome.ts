// Reads and reports the outcome of an authentication.

import { type ErrorCode, isSvcError } from '../base/errors.ts';
import { memberWithText } from '../base/json/exact.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext } from '../cli/app/hint.ts';
import { isForPeople, recordPrinter } from '../cli/app/print.ts';
import type { View } from '../cli/output/view.ts';
import type { Client } from '../client/api/client.ts';
import type { Authentication, ThreeDsSession } from '../schema/three-ds/session.ts';
import { type FailOn, resultWords } from './fail-on.ts';
import { isOpen, outcomeLines } from './outcome-lines.ts';
import { maskedResponse, statusTone } from './view.ts';

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

export type Sessions = Pick<Client['threeDs'], 'read'>;

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
