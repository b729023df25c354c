// Reads the address to which events are forwarded, and shows it without its secret parts.

import { SvcError } from '../base/errors.ts';
import { addressProblem } from '../cli/config/values.ts';
import { displayHost, readAddress } from '../schema/address.ts';

/** Reads the address of a target: https, or http on this machine. @throws SvcError `usage`, which does not show the address */
export function parseTarget(text: string): URL {
  const url = readAddress(text);
  const problem = addressProblem(url);
  if (url !== undefined && problem === undefined) return url;
  throw new SvcError('usage', problem ?? '', { hint: 'Give an address such as http://localhost:3000/webhooks.' });
}

/** Formats a target for display, with `…` for its query and for parts of its path that may be secret. */
export function displayTarget(url: URL): string {
  const path = url.pathname.split('/').map((part) => (isSecretLike(part) ? '…' : part));
  return displayHost(url) + (url.pathname === '/' ? '' : path.join('/')) + (url.search === '' ? '' : '?…');
}

// Webhook addresses of chat services end with a token, and everyone who has the token can post there.
function isSecretLike(part: string): boolean {
  return part.length >= 16 && !/^[a-z._-]+$/.test(part);
}

/** Returns the explanation of `<url>` in a replay command, to follow a sentence; empty if the command shows the target. */
export function targetAdvice(target: URL): string {
  return hasHiddenPart(target) ? ' (<url> is the whole target, of which parts are not shown)' : '';
}

export function hasHiddenPart({ search, pathname }: URL): boolean {
  return pathname.split('/').some(isSecretLike) || search !== '';
}
