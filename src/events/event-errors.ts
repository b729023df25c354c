import { SvcError } from '../base/errors.ts';
import { didYouMean, sentences } from '../base/security/typed-word.ts';
import type { ForwardResult } from './forward.ts';
import { displayTarget } from './report.ts';

/** The error for a type without a sample. Its name is no secret, but a word that has not even its form may be one. */
export function unknownType(type: string, isEventType: boolean, known: readonly string[]): SvcError {
  if (!isEventType)
    return new SvcError('usage', 'not an event type: a type is words joined by dots, such as tenant.updated');
  return new SvcError('usage', `there is no sample event of type "${type}"`, {
    hint: sentences(
      didYouMean(type, known),
      `Choose from ${known.join(', ')}; any other type can be sent with --type.`,
    ),
  });
}

/** The error for a target that did not take the event. */
export function notAccepted(target: URL, { status, reason }: ForwardResult): SvcError {
  return new SvcError(failureCode(status), `${displayTarget(target)} did not accept the event: ${reason}`, {
    status,
    ...(status === undefined && {
      hint: 'Name another target with --forward-to, or start a listener.',
      next: ['events', 'listen'],
    }),
  });
}

function failureCode(status: number | undefined): 'network' | 'rejected' | 'server' {
  if (status === undefined) return 'network';
  return status < 500 ? 'rejected' : 'server';
}
