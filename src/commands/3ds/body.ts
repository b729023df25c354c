import type { Context } from '../../app/command.ts';
import { readJsonBody } from '../../app/json-body.ts';
import { flag } from '../../app/parameter.ts';
import { SvcError } from '../../errors.ts';
import type { Violation } from '../../three-ds/check.ts';
import { UNKNOWN_MEMBER } from '../../three-ds/rules.ts';
import type { Setting } from '../../three-ds/setting.ts';

/** The body of an authentication from a file, or from standard input for `-`, with the values of `--set` put in. */
export async function readBody(
  context: Context,
  typed: string,
  set: readonly Setting[],
  allowUnknown: boolean,
): Promise<unknown> {
  const [{ withNumericCurrencies, withSettings }, json] = await Promise.all([
    import('../../three-ds/setting.ts'),
    readJsonBody(context, typed, { hint: "Fix it there; 'svc 3ds template' prints a body to start from." }),
  ]);
  return withNumericCurrencies(withSettings(json, set, allowUnknown));
}

/** `--allow-unknown` of the commands that check a body. */
export const allowUnknownParameter = flag(
  '--allow-unknown',
  'allow fields that the interface does not have; every other rule still holds',
);

/** More than this only buries what matters. */
const MOST_SHOWN = 50;

/**
 * Refuses a body that breaks rules, naming each with its path and an example, and nothing of the body itself.
 * Returns the paths of unknown fields where these are allowed.
 * @throws SvcError `refused_input`
 */
export function checkViolations(
  name: string,
  violations: readonly Violation[],
  allowUnknown: boolean,
): string[] {
  const isAllowed = ({ rule }: Violation): boolean => allowUnknown && rule === UNKNOWN_MEMBER;
  const broken = violations.filter((violation) => !isAllowed(violation));
  if (broken.length > 0) throw refusedBody(name, broken);
  return violations.map(({ path }) => path);
}

/** Paths for a message, as many as can be read. */
export function pathWords(paths: readonly string[]): string {
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : '';
  return `${paths.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

function refusedBody(name: string, violations: readonly Violation[]): SvcError {
  const shown = violations.slice(0, MOST_SHOWN);
  const count = violations.length === 1 ? '1 validation error' : `${violations.length} validation errors`;
  const more = shown.length < violations.length ? ` (the first ${MOST_SHOWN} are shown)` : '';
  return new SvcError('refused_input', `${name}: ${count}${more}`, {
    hint: "Fix them and check again with 'svc 3ds validate'; 'svc 3ds template' prints a valid body.",
    facts: { problems: shown.map(describeProblem), violations: shown },
  });
}

function describeProblem({ path, rule, example, suggestion }: Violation): string {
  const meant = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  const such =
    example === undefined || suggestion !== undefined ? '' : `; for example ${JSON.stringify(example)}`;
  return `${path} ${rule}${meant}${such}`;
}
