import { SvcError } from '../base/errors.ts';
import { questionOf } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { readJsonBody } from '../cli/app/files/data-file.ts';
import { assignmentsOf, flag, repeated, suggesting, type Suggestion } from '../cli/app/parameter.ts';
import { nameValue } from '../cli/app/value-parsers.ts';
import { countText } from '../cli/output/time.ts';
import type { Violation } from './check-body.ts';
import { UNKNOWN_MEMBER } from './rules.ts';
import type { Setting } from './setting.ts';

/** The options `--set` and `--allow-unknown` of commands that check a body. */
export const bodyParameters = {
  set: suggesting(
    { assignments: pathsAndValues },
    repeated('--set <path=value>', 'put a value into the body', nameValue),
  ),
  allowUnknown: flag('--allow-unknown', 'allow fields that the interface does not have'),
} as const;

/** Returns every field of a body that takes a text, number or flag, and with each of its listed values, for completion. */
async function pathsAndValues(): Promise<Suggestion[]> {
  const { BODY, fieldsBelow } = await import('../schema/three-ds/fields.ts');
  return fieldsBelow(BODY).flatMap(({ path, kind, description, choices }): Suggestion[] => {
    if (kind === 'object' || kind === 'list' || kind === 'free') return [];
    const values = choices ?? (kind === 'flag' ? ['true', 'false'] : []);
    return assignmentsOf(
      path,
      description,
      values.map((value) => [value, '']),
    );
  });
}

export function bodyName(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** Reads the body of an authentication from a file, or standard input for `-`, and applies `--set`. */
export async function readBody(context: Context, file: string, set: readonly Setting[], allowUnknown: boolean) {
  const { withNumericCurrencies } = await import('./setting.ts');
  return withNumericCurrencies(await readBodyAsGiven(context, file, set, allowUnknown));
}

/** Reads the body like `readBody`, without the changes that svc makes before it sends it. */
export async function readBodyAsGiven(context: Context, file: string, set: readonly Setting[], allowUnknown: boolean) {
  const [{ withSettings }, json] = await Promise.all([import('./setting.ts'), readJsonBody(context, file)]);
  return withSettings(json, set, allowUnknown);
}

/** The most violations that are shown; more would bury what matters. */
const MOST_SHOWN = 50;

/**
 * Refuses a body that breaks rules. The error names each rule with its path and an example, and quotes nothing of the
 * body. Returns the paths of unknown fields if these are allowed.
 * @throws SvcError `refused_input`
 */
export function checkViolations(file: string, violations: readonly Violation[], allowUnknown: boolean): string[] {
  const broken = violations.filter(({ rule }) => !allowUnknown || rule !== UNKNOWN_MEMBER);
  if (broken.length === 0) return violations.map(({ path }) => path);
  const shown = broken.slice(0, MOST_SHOWN);
  const count = countText(broken.length, 'validation error');
  const more = shown.length < broken.length ? ` (the first ${MOST_SHOWN} are shown)` : '';
  throw new SvcError('refused_input', `${bodyName(file)}: ${count}${more}`, {
    hint: 'Fix these fields, or start from a valid body.',
    next: ['3ds', 'template', '<type>'],
    facts: { problems: shown.map(describeProblem), violations: shown },
  });
}

/** Formats paths for a message, the first ones and how many more. */
export function pathWords(paths: readonly string[]): string {
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : '';
  return `${paths.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

function describeProblem({ path, rule, example, suggestion }: Violation): string {
  const meant = suggestion === undefined ? '' : `. ${questionOf(suggestion)}`;
  const sample = example === undefined || suggestion !== undefined ? '' : `; for example ${JSON.stringify(example)}`;
  return `${path} ${rule}${meant}${sample}`;
}
