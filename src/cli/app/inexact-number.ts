import { SvcError } from '../../base/errors.ts';
import { isObject } from '../../schema/json-value.ts';

/**
 * Refuses parsed JSON with a number too large to be exact, since a different number would be sent. Fractions are not
 * checked. `where` names the source in the message; without `where`, the caller puts the name of an option before the message.
 * @throws SvcError `refused_input`
 */
export function refuseInexactNumber(value: unknown, where?: string): void {
  if (!hasInexactNumber(value)) return;
  const problem = 'contains a number that is too large to be sent exactly';
  throw new SvcError('refused_input', where === undefined ? problem : `${where} ${problem}`, {
    hint: 'Write it as a string, in quotes.',
  });
}

function hasInexactNumber(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasInexactNumber);
  if (isObject(value)) return Object.values(value).some(hasInexactNumber);
  if (typeof value !== 'number') return false;
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}
