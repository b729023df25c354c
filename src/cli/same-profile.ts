import { SANDBOX_PROFILE } from '../config/profile-name.ts';
import type { Globals } from './globals.ts';

const ASKING = /(['`"])svc (?=(?:logs|tenant|au|3ds|api) )/g;

// The sandbox has no keys to store, and all is well with it.
const SETTING_UP = /(['`"])svc (?=(?:login|whoami|doctor)\b(?! --profile))/g;

/**
 * Puts the profile that was named on this command line into the commands that a text quotes, such as
 * 'svc au wait 1', so that they can be typed as they stand.
 */
export function sameProfile(
  text: string,
  { sandbox, profile }: Pick<Globals, 'sandbox' | 'profile'>,
): string {
  const option = sandbox ? '--sandbox' : profile === undefined ? undefined : `--profile ${profile}`;
  if (option === undefined) return text;
  const adapted = text.replaceAll(ASKING, `$1svc ${option} `);
  if (sandbox || profile === SANDBOX_PROFILE) return adapted;
  return adapted.replaceAll(SETTING_UP, `$1svc ${option} `);
}
