import { SvcError } from '../errors.ts';
import { longPause } from './retry-after.ts';
import { readProblem } from './problem.ts';
import { requestIdOf, type ReadAnswer } from './read-answer.ts';
import { type CallFacts, networkError, redirectError, refusalError, unclearError } from './refusal.ts';
import { repeatableOf } from './request.ts';
import { isUnclear, type Outcome } from './retry.ts';
import type { TransportFailure } from './transport-failure.ts';

/** The error for an attempt that is not to be repeated. */
export function failedError(facts: CallFacts, outcome: ReadAnswer | { failure: TransportFailure }): SvcError {
  const repeatable = repeatableOf(facts.request);
  if ('failure' in outcome) {
    const { failure } = outcome;
    return isUnclear(outcome, repeatable)
      ? unclearError(facts, failure.message)
      : networkError(facts, failure);
  }
  const problem = readProblem(outcome.text, outcome.header('content-type'));
  const requestId = requestIdOf(outcome) ?? problem.requestId;
  if (outcome.status < 400)
    return redirectError(facts, outcome.status, outcome.header('location'), requestId);
  if (isUnclear(outcome, repeatable)) {
    return unclearError(
      facts,
      `the service answered ${outcome.status}${problem.summary ? `: ${problem.summary}` : ''}`,
      outcome.status,
      requestId,
    );
  }
  return refusalError(facts, outcome.status, { ...problem, requestId });
}

/** What to throw when the signal ends a request that was sent: it may have taken effect, and must say so (R20). */
export function abortedError(facts: CallFacts, reason: unknown): unknown {
  if (repeatableOf(facts.request) === 'always' || !(reason instanceof SvcError)) return reason;
  const unclear = unclearError(facts, reason.message);
  if (reason.code === 'time_up') return unclear;
  return new SvcError(reason.code, `${reason.message}; ${unclear.message}`, { hint: unclear.hint });
}

/** The error for a pause that is longer than the operator allows (R17). */
export function tooLongError(facts: CallFacts, outcome: Outcome, asked: number, maxWait: number): SvcError {
  const { words, hint, facts: pause } = longPause(asked);
  return new SvcError(
    'rate_limited',
    `the service asks to wait ${words} before ${facts.request.method} ${facts.request.path}, longer than ${maxWait / 1000} s`,
    {
      status: 'status' in outcome ? outcome.status : undefined,
      hint,
      facts: pause,
    },
  );
}
