import { SvcError } from '../errors.ts';
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
  if (outcome.status >= 300 && outcome.status < 400)
    return redirectError(facts, outcome.status, outcome.header('location'));
  const problem = readProblem(outcome.text, outcome.header('content-type'));
  if (isUnclear(outcome, repeatable)) {
    return unclearError(
      facts,
      `the service answered ${outcome.status}${problem.summary ? `: ${problem.summary}` : ''}`,
      outcome.status,
    );
  }
  return refusalError(facts, outcome.status, {
    ...problem,
    requestId: requestIdOf(outcome) ?? problem.requestId,
  });
}

/** The error for a pause that is longer than the operator allows (R17). */
export function tooLongError(facts: CallFacts, outcome: Outcome, asked: number, maxWait: number): SvcError {
  const seconds = Math.ceil(asked / 1000);
  return new SvcError(
    'rate_limited',
    `the service asks to wait ${seconds} s before ${facts.request.method} ${facts.request.path}, longer than ${maxWait / 1000} s`,
    {
      status: 'status' in outcome ? outcome.status : undefined,
      hint: `run the command again in ${seconds} s, or allow the pause with --max-wait ${seconds}s`,
      facts: { retry_after_s: seconds },
    },
  );
}
