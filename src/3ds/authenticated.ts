// Reads and authenticates a session, and remembers which sessions this machine may have authenticated.

import path from 'node:path';
import { resultWords } from './fail-on.ts';
import { isSvcError, SvcError } from '../base/errors.ts';
import { makeDirectory } from '../base/files/directory.ts';
import { writeFileAtomicSync } from '../base/files/draft.ts';
import { withLock } from '../base/files/lock.ts';
import { readRegularFileSync } from '../base/files/read.ts';
import type { Context } from '../cli/app/command.ts';
import { serviceOf } from '../cli/app/service.ts';
import { directoryOf, requireDirectory } from '../cli/config/paths.ts';
import type { Client } from '../client/api/client.ts';
import { DAY_MS } from '../schema/durations.ts';
import { objectOrUndefined } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';
import type { AuthenticateRequest } from '../schema/three-ds/authenticate.ts';
import type { AuthenticationResult } from '../schema/three-ds/session.ts';

// Remembers the sessions that a person authenticated on this machine. While a challenge is open, a service may not show that the
// session was authenticated. The sessions of a suite are not remembered: nobody authenticates them again.
const FILE = '3ds-sessions.json';

/** How long a session is remembered. The service removes sessions earlier. */
const KEPT_MS = 30 * DAY_MS;
const MAX_KEPT = 1_000;

/** Whether this machine authenticated the session, or may have. */
export function wasAuthenticated(context: Context, id: string): boolean {
  return ownMember(sessionsOf(context), nameOf(context, id)) !== undefined;
}

/** Returns the error for a session that is not to be authenticated again. */
export function authenticatedBefore(id: string): SvcError {
  return new SvcError('refused_input', `3DS session ${id} was authenticated before; nothing was sent`, {
    hint: 'Each authentication may be billed. Read the outcome of the first one, or add --again to send the body once more.',
    next: resultWords(id),
    facts: { session: id },
  });
}

/**
 * Authenticates a session and remembers it, unless the service refused or the request was certainly not sent.
 * @throws SvcError `refused_input` if another process was faster, unless the session may be authenticated `again`
 */
export async function authenticateSession(
  context: Context,
  { threeDs }: Client,
  id: string,
  body: AuthenticateRequest,
  { again }: { readonly again: boolean },
): Promise<AuthenticationResult> {
  const isFirst = !(await remember(context, id, true));
  if (!isFirst && !again) throw authenticatedBefore(id);
  try {
    return await threeDs.authenticate(id, body, ['3ds', 'show', id]);
  } catch (error) {
    const isUnclear = isSvcError(error, 'outcome_unknown', 'timeout', 'interrupted', 'terminated', 'hangup');
    if (isFirst && !isUnclear) await remember(context, id, false);
    throw error;
  }
}

/**
 * Adds a session to the file, or removes it. Returns whether the file had it. A failure is a warning: the authentication does not
 * depend on it.
 */
async function remember(context: Context, id: string, isAuthenticated: boolean): Promise<boolean> {
  const { system, clock, notices } = context;
  try {
    const file = path.join(requireDirectory(system, 'state'), FILE);
    makeDirectory(path.dirname(file));
    const work = (): boolean => {
      const name = nameOf(context, id);
      const { [name]: earlier, ...others } = sessionsOf(context);
      const sessions = { ...others, ...(isAuthenticated && { [name]: clock.now() }) };
      writeFileAtomicSync(file, `${JSON.stringify({ version: 1, sessions })}\n`);
      return earlier !== undefined;
    };
    return await withLock(`${file}.lock`, system, work, { waitMs: 2_000, endsAtRestart: true });
  } catch (error) {
    if (!isSvcError(error, 'config', 'local')) throw error;
    notices.warn(`a second authentication of this session will not be noticed: ${error.message}`);
    return wasAuthenticated(context, id);
  }
}

function nameOf(context: Context, id: string): string {
  return `${serviceOf(context)} ${id}`;
}

/** Returns the times at which sessions were authenticated: the newest ones of the last 30 days. */
function sessionsOf({ system, clock }: Context): Readonly<Record<string, unknown>> {
  const isKept = (at: unknown): boolean => typeof at === 'number' && at > clock.now() - KEPT_MS;
  try {
    const directory = directoryOf(system, 'state') ?? '';
    const file: unknown = JSON.parse(readRegularFileSync(path.join(directory, FILE)));
    const sessions = Object.entries(objectOrUndefined(objectOrUndefined(file)?.['sessions']) ?? {});
    return Object.fromEntries(sessions.filter(([, at]) => isKept(at)).slice(-MAX_KEPT));
  } catch {
    return {};
  }
}
