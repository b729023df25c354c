import type { Globals } from './globals.ts';

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
  return text.replaceAll(/(['`"])svc (?=(?:logs|tenant|au|3ds|api) )/g, `$1svc ${option} `);
}
