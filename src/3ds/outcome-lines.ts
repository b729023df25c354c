// Explains the outcome of an authentication in lines of text.

import type { Meaning } from '../cli/glossary/glossary.ts';
import { THREE_DS_MEANINGS } from './glossary.ts';

/** Finds the meaning of a reason or cancel reason; undefined for an unknown reason. */
function reasonMeaning(reason: unknown): Meaning | undefined {
  return THREE_DS_MEANINGS.find(({ kind, name }) => name === reason && kind.endsWith('reason'));
}

/** The members of a response that describe the outcome of an authentication. Any member may be absent or have a new value. */
export interface AuthenticationOutcome {
  readonly authentication_status?: string | null | undefined;
  readonly authentication_status_reason?: unknown;
  readonly challenge_cancel_reason?: unknown;
}

/** Whether the outcome is still open: a challenge is under way, or the service shows no authentication. */
export function isOpen({ authentication_status: status }: AuthenticationOutcome): boolean {
  return status === undefined || status === null || ['', 'challenge', 'decoupled_challenge'].includes(status);
}

/** Explains an outcome in lines: its meaning, who bears the loss, and what to do next. */
export function outcomeLines(outcome: AuthenticationOutcome): string[] {
  const status = outcome.authentication_status;
  if (status === undefined || status === null || status === '') return ['the service shows no authentication'];
  const meaning = THREE_DS_MEANINGS.find(({ kind, name }) => kind === 'authentication status' && name === status);
  if (meaning === undefined)
    return [
      `${status}: a status that this version does not know`,
      'next: do not count on the authentication before you know what it means',
    ];
  const reasons = [outcome.authentication_status_reason, outcome.challenge_cancel_reason].map(reasonMeaning);
  const knownReasons = reasons.filter((reason) => reason !== undefined);
  return [
    `${status}: ${meaning.means}`,
    ...knownReasons.map(({ kind, name, means }) => `${kind} ${name}: ${means}`),
    ...(meaning.liability === undefined ? [] : [`liability for fraud: ${meaning.liability}`]),
    `next: ${meaning.next ?? 'nothing to do'}`,
    ...knownReasons
      .filter(({ next = 'Go by' }) => !next.startsWith('Go by'))
      .map(({ name, next }) => `because of ${name}: ${next}`),
  ];
}
