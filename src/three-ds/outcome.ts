import { reasonMeaning, statusMeaning } from './explain.ts';

/** The parts of a response that say how an authentication ended. Any of them may be absent or new. */
export interface Outcome {
  readonly authentication_status?: string | null | undefined;
  readonly authentication_status_reason?: unknown;
  readonly challenge_cancel_reason?: unknown;
}

/** Whether something is still to come: a challenge is open, or nothing was authenticated yet. */
export function isOpen({ authentication_status: status }: Outcome): boolean {
  return status === undefined || status === null || ['', 'challenge', 'decoupled_challenge'].includes(status);
}

/** What an outcome means, who bears the loss and what to do next, a line each, in the operator's words. */
export function outcomeLines(outcome: Outcome): string[] {
  const status = outcome.authentication_status;
  if (status === undefined || status === null || status === '') return ['nothing was authenticated yet'];
  const meaning = statusMeaning(status);
  if (meaning === undefined) {
    return [
      `${status}: a status that this version does not know`,
      'next: do not count on the authentication before you know what it means',
    ];
  }
  const reasons = [outcome.authentication_status_reason, outcome.challenge_cancel_reason].map(reasonMeaning);
  const known = reasons.filter((reason) => reason !== undefined);
  return [
    `${status}: ${meaning.means}`,
    ...known.map(({ kind, name, means }) => `${kind} ${name}: ${means}`),
    ...(meaning.liability === undefined ? [] : [`liability for fraud: ${meaning.liability}`]),
    `next: ${meaning.next}`,
    ...known
      .filter(({ next }) => !next.startsWith('Go by'))
      .map(({ name, next }) => `because of ${name}: ${next}`),
  ];
}
