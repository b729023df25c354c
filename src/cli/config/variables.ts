import { SvcError } from '../../base/errors.ts';
import { nearest } from '../../base/security/typed-word.ts';
import type { System } from '../../base/system.ts';
import { PROFILE_SETTINGS } from './profile-settings.ts';

/** The environment variables that svc reads, which `svc help environment` lists. */
export const VARIABLES: readonly string[] = [
  'SVC_PROFILE',
  ...Object.values(PROFILE_SETTINGS).map(({ variable }) => variable),
  'SVC_TIMEOUT',
  'SVC_DEBUG',
  'SVC_PLAIN',
  'SVC_PAGER',
  ...['SVC_MANAGEMENT_API_KEY', 'SVC_PRIVATE_API_KEY', 'SVC_API_KEY'].flatMap((key) => [key, `${key}_FILE`]),
  'SVC_CONFIG_DIR',
  'SVC_STATE_DIR',
  'SVC_CACHE_DIR',
  'SVC_PACING',
  'SVC_SANDBOX_FAULTS',
];

/** Variables that name the ledger of paid rows. Without the ledger, rows can be paid for twice. */
const LEDGER_VARIABLES: ReadonlySet<string> = new Set(['SVC_LEDGER', 'SVC_STATE_DIR']);

/** A variable that svc does not read, and the variable that was probably meant. */
export interface Misspelled {
  readonly name: string;
  readonly meant: string;
  /** Whether only letters differ. A name with another word may be of another program. */
  readonly isMistyped: boolean;
}

type Variables = Pick<System, 'env' | 'platform'>;

/** Returns the set variables whose names nearly match a variable of svc. */
export function misspelledVariables({ env, platform }: Variables): Misspelled[] {
  const isKnown = (name: string): boolean => VARIABLES.includes(platform === 'win32' ? name.toUpperCase() : name);
  const ours = Object.keys(env).filter((name) => /^svc_/i.test(name) && env[name] !== undefined && !isKnown(name));
  return ours.flatMap((name) => {
    // Short names of other programs, such as SVC_NAME, are often two edits from a variable of svc.
    const near = nearest(name, VARIABLES, Math.floor(name.length / 5));
    const meant = near ?? oneWordApart(name);
    return meant === undefined ? [] : [{ name, meant, isMistyped: near !== undefined }];
  });
}

/** Returns the variable that has one word more or less than a name: `SVC_PRIVATE_KEY`, `SVC_LEDGER_DIR`. */
function oneWordApart(name: string): string | undefined {
  const typed = name.toUpperCase().split('_');
  // The keys of the service come last: SVC_KEY is rather one of these than the file of a client certificate.
  return VARIABLES.findLast((variable) => {
    const words = variable.split('_');
    const [short, long] = words.length < typed.length ? [words, typed] : [typed, words];
    return short.length === long.length - 1 && short.every((word) => long.includes(word));
  });
}

/** Returns the warning about a misspelled variable. */
export function misspelledText({ name, meant }: Misspelled): string {
  return `the variable ${name} is not one of svc and is not read; did you mean ${meant}?`;
}

/**
 * Refuses paid work if a misspelled variable may name the ledger: this command would not know which rows are paid for.
 * @throws SvcError `config`
 */
export function requireSpelledPlaces(system: Variables): void {
  const found = misspelledVariables(system).find(
    ({ meant, isMistyped }) => isMistyped && LEDGER_VARIABLES.has(meant) && !system.env[meant],
  );
  if (found === undefined) return;
  const { name, meant } = found;
  throw new SvcError('config', `the variable ${name} may be a misspelled ${meant}`, {
    hint: `Nothing was sent: without ${meant}, rows could be paid for twice. Rename ${name} to ${meant}, or unset it.`,
  });
}
