import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { flag, type Input, value } from '../cli/app/parameter.ts';
import { positiveDuration } from '../cli/app/value-parsers.ts';
import { KEY_TYPES, keyOrigin } from '../cli/config/keys.ts';
import { formatDuration, parseTime } from '../cli/output/time.ts';
import { DAY_MS } from '../schema/durations.ts';
import type { KeyType } from '../schema/tenant.ts';

export const KEY_AGE_PARAMETERS = {
  maxKeyAge: value(
    '--max-key-age <duration>',
    'exit with 10 when a key was stored longer ago, such as 90d',
    positiveDuration,
  ),
  strict: flag('--strict', 'with --max-key-age: also exit with 10 when the age of a key is unknown'),
} as const;

/** The age of a key in use, counted from its storing. */
export interface KeyAge {
  readonly type: KeyType;
  readonly from: string;
  readonly storedAt: string | null;
  /** Undefined for a key from a variable, a command or an editor, and for a time in the future. */
  readonly ageMs: number | undefined;
}

/** Returns the age of the key in use; undefined without a key, and for the sandbox's built-in keys. */
export function keyAge({ system, settings, clock }: Context, type: KeyType): KeyAge | undefined {
  const origin = keyOrigin(system, settings, type);
  if (origin === undefined || settings.sandbox) return undefined;
  const stored = origin.kind === 'profile' ? settings.stored?.keys?.[type] : undefined;
  // A profile with a key command may still contain the time of the stored key that the command replaced.
  const storedAt = (stored?.value === undefined ? undefined : stored.stored_at) ?? null;
  const at = parseTime(storedAt ?? '');
  const ageMs = at === undefined || at > clock.now() ? undefined : clock.now() - at;
  return { type, from: origin.name, storedAt, ageMs };
}

/** Refuses --strict without --max-key-age. @throws SvcError `usage` */
export function checkKeyAgeOptions({ maxKeyAge, strict }: Input<typeof KEY_AGE_PARAMETERS>): void {
  if (strict && maxKeyAge === undefined)
    throw new SvcError('usage', '--strict needs --max-key-age', { hint: 'Such as --max-key-age 90d.' });
}

/**
 * Compares the age of each key in use with the allowed age, and warns of keys of unknown age.
 * @throws SvcError `threshold` for an older key; with `strict` also for a key of unknown age
 */
export function checkKeyAges(context: Context, maxMs: number, strict: boolean): void {
  const ages = KEY_TYPES.flatMap((type) => keyAge(context, type) ?? []);
  const old = ages.filter(({ ageMs = 0 }) => ageMs > maxMs);
  const unknown = ages.filter(({ ageMs }) => ageMs === undefined);
  const facts = { max_key_age_days: days(maxMs), keys: [...old, ...unknown].map(keyFact) };
  if (old.length > 0) {
    const texts = old.map((age) => `the ${age.type} key (${age.from}) was ${agedText(age)}`);
    throw new SvcError('threshold', `${texts.join(', ')}; allowed: ${formatDuration(maxMs)}`, {
      hint: REPLACE,
      next: ['login', '--rotate'],
      facts,
    });
  }
  const texts = unknown.map(({ type, from }) => `the age of the ${type} key (${from}) is not known`);
  if (strict && texts.length > 0) throw new SvcError('threshold', texts.join(', '), { hint: UNKNOWN_HINT, facts });
  for (const text of texts) context.notices.warn(`${text}: it was not compared with ${formatDuration(maxMs)}`);
}

export const REPLACE =
  'Create a new key at the service, put it in the place of the stored one, and revoke the old key:';
export const UNKNOWN_HINT =
  'svc knows the age of a key that it stored in a profile. For others, ask where they are kept, and leave --strict out.';

/** Returns, for example, `stored 3d ago`. */
export function agedText({ ageMs }: KeyAge): string {
  return ageMs === undefined ? 'stored at an unknown time' : `stored ${formatDuration(ageMs)} ago`;
}

function keyFact({ type, from, storedAt, ageMs }: KeyAge) {
  return { type, from, stored_at: storedAt, age_days: ageMs === undefined ? null : days(ageMs) };
}

function days(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
