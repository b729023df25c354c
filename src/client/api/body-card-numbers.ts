// Finds card numbers in the body of a request.

import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { type TextAt, textsIn } from '../../schema/three-ds/body-values.ts';
import { fieldAt } from '../../schema/three-ds/fields.ts';

// The acquirer and the card networks assign these ids, and some look like a card number by chance.
const ASSIGNED = /^(?:merchant_info\.(?:mid|acquirer_bin)|requestor_info\.id)$/;
/** Fields whose digits may look like a card number by chance, each with the maximum number of digits of the field. */
const MAX_DIGITS: readonly (readonly [fields: RegExp, most: number])[] = [
  [/^cardholder_info\.\w*phone_number\./, 15],
  [/^purchase_info\.amount$/, 13],
];

/** Finds card numbers in the values and names of a request body. */
export function cardNumbersIn(body: unknown): TextAt[] {
  return [...textsIn(body)].filter((found) => containsCardNumber(found.text, 'cell') && !mayHoldDigits(found));
}

function mayHoldDigits({ parts, isName, text }: TextAt): boolean {
  const path = parts.join('.');
  if (isName || fieldAt(path) === undefined) return false;
  const digits = text.replaceAll(/\P{Nd}/gu, '').length;
  return ASSIGNED.test(path) || MAX_DIGITS.some(([fields, most]) => fields.test(path) && digits <= most);
}

/** Checks that a request body has no card number. @throws SvcError `refused_input`, without the number */
export function requireNoCardNumbers(body: unknown, hint?: string): void {
  const [found] = cardNumbersIn(body);
  if (found === undefined) return;
  const where = found.parts.length === 0 ? '' : ` (${displayPath(found.parts)})`;
  throw new SvcError('refused_input', `the body contains what looks like a card number${where}; nothing was sent`, {
    hint,
  });
}

/** Makes a path safe to show: replaces parts that do not look like member names, since they may be secrets. */
export function displayPath(parts: readonly string[]): string {
  return parts.map((part) => (looksLikeName(part) ? part : '(unusual name)')).join('.');
}

/** Whether a part of a path looks like a member name or the index of an item. */
export function looksLikeName(part: string): boolean {
  return /^(?:(?!__proto__$)[A-Za-z_][\w-]{0,63}|\d{1,4})$/.test(part) && !containsCardNumber(part);
}
