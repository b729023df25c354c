import { SvcError } from '../errors.ts';
import { displayHost, isSafeAddress, readAddress } from '../security/address.ts';
import { isShowable } from '../security/typed-word.ts';
import type { Origin } from './profile-name.ts';

/**
 * Reads a base URL: https, or http on this machine; a path prefix may follow. The result's path never ends in a
 * slash, except that of the root. Throws `SvcError` (`usage` for a flag, else `config`) without echoing the text,
 * which may hold a password.
 */
export function parseBaseUrl(text: string, origin: Origin): URL {
  const url = readAddress(text.trim());
  const problem = url === undefined ? 'is not an absolute URL' : problemOf(url);
  if (url === undefined || problem !== undefined)
    throw new SvcError(
      origin.kind === 'flag' ? 'usage' : 'config',
      `the base URL from ${origin.name} ${problem}`,
      {
        hint: 'Give an address such as https://api.example.com, as the service named it for your account.',
      },
    );
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** A base URL as text, without a slash at its end: the form in which it is stored, compared and shown. */
export function baseUrlText(url: URL): string {
  return displayHost(url) + url.pathname.replace(/\/+$/, '');
}

function problemOf(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither https nor http';
  if (!isSafeAddress(url)) return 'is not encrypted: only https may leave this machine';
  if (url.username !== '' || url.password !== '')
    return 'holds a user name or password, which has no place there';
  if (url.search !== '' || url.href.includes('?')) return 'holds a query, which has no place there';
  if (url.hash !== '' || url.href.includes('#')) return 'holds a fragment, which has no place there';
  return undefined;
}

/** What a key command is called that may be a key, pasted in the place of a command. */
export const UNNAMED = 'a command';

/** How a key command is called where it is shown: `command pass`. Its other words may say more than they should. */
export function commandName(command: string): string {
  const [word = ''] = command.trim().split(/\s+/);
  const isPath = /^[\w./\\:~-]{1,80}$/.test(word);
  const names = word.split(/[/\\:~]+/).filter((name) => name !== '');
  return isPath && names.every((name) => isShowable(name)) ? `command ${word}` : UNNAMED;
}
