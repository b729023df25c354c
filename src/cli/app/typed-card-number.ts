import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import type { Assignment } from './assignment.ts';

/**
 * Refuses card numbers on a command line, which other users and shell histories can see.
 * @throws SvcError `refused_input`
 */
export function refuseTypedCardNumbers(
  texts: readonly string[],
  assignments: readonly Assignment[],
  hint: string,
): void {
  const typed = [...texts, ...assignments.map((one) => JSON.stringify(one))];
  if (!typed.some((one) => containsCardNumber(one))) return;
  throw new SvcError('refused_input', 'the command line contains what looks like a card number; nothing was sent', {
    hint,
  });
}
