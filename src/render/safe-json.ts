import { containsCardNumber, maskCardNumbers } from '../card-number.ts';
import { STRING } from '../exact-json.ts';
import { escapeInJson } from './clean.ts';

const TOKEN = new RegExp(`${STRING}|-?\\d[\\d.eE+-]*`, 'g');

/**
 * JSON that is safe to show and still JSON: card numbers masked, where a number becomes a text, and characters that a
 * terminal obeys or nobody sees as their escapes. All other tokens stay as they are.
 */
export function safeJson(json: string): string {
  // A card number may hide behind escapes, which only its own string tells.
  const isSuspicious = json.includes('\\') || containsCardNumber(json);
  return escapeInJson(isSuspicious ? json.replace(TOKEN, maskToken) : json);
}

/** Whether a text of JSON holds what looks like a card number. */
export function holdsCardNumber(json: string): boolean {
  return json.includes('\\') ? safeJson(json) !== escapeInJson(json) : containsCardNumber(json);
}

function maskToken(token: string): string {
  if (!token.startsWith('"'))
    return containsCardNumber(token) ? JSON.stringify(maskCardNumbers(token)) : token;
  if (!token.includes('\\')) return maskCardNumbers(token);
  const text = String(JSON.parse(token));
  return containsCardNumber(text) ? JSON.stringify(maskCardNumbers(text)) : token;
}
