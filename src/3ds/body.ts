// Reads, changes, checks and reports the body of an authentication.

import { SvcError } from '../base/errors.ts';
import { didYouMean, questionOf } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { readJsonBody } from '../cli/app/files/data-file.ts';
import { assignmentsOf, repeated, suggesting, type Suggestion } from '../cli/app/parameter.ts';
import { nameValue, type ValueParser } from '../cli/app/value-parsers.ts';
import { countText } from '../cli/output/number.ts';
import type { SessionType } from '../schema/three-ds/values.ts';
import { LIFTABLE_RULES, type LiftableRule, type Violation } from './rules.ts';
import type { Setting } from './setting.ts';

const liftableRule: ValueParser<LiftableRule> = (typed) => {
  const rule = LIFTABLE_RULES.find((one) => one === typed);
  if (rule !== undefined) return rule;
  throw new SvcError('usage', `must be one of ${LIFTABLE_RULES.join(', ')}`, {
    hint: didYouMean(typed, LIFTABLE_RULES),
  });
};

/** The options `--set` and `--allow` of commands that check a body. */
export const bodyParameters = {
  set: suggesting(pathsAndValues, repeated('--set <path=value>', 'put a value into the body', nameValue)),
  allow: suggesting(
    async () => {
      const { wordsIn } = await import('../cli/glossary/glossary.ts');
      const { default: words } = await import('./glossary.json', { with: { type: 'json' } });
      return wordsIn(words, 'rule for a 3DS body').filter(([name]) => LIFTABLE_RULES.some((rule) => rule === name));
    },
    repeated('--allow <rule>', 'lift a rule for the body, such as exponent', liftableRule),
  ),
} as const;

/** Returns every field of a body that takes a text, number or flag, with its listed values, for completion. */
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

interface BodyOptions {
  /** The values of `--set`. */
  readonly set?: readonly Setting[];
  /** The rules of `--allow`, which the body may break. */
  readonly allow?: readonly LiftableRule[];
}

/** Reads the body of an authentication from a file, or standard input for `-`, and applies `--set`. */
export async function readBody(context: Context, file: string, options: BodyOptions): Promise<unknown> {
  return changedBody(context, await readJsonBody(context, file), options);
}

/** Applies `--set` to a body. Setting a currency also sets its exponent, unless the exponent is set or allowed to differ. */
export async function changedBody(context: Context, body: unknown, { set = [], allow = [] }: BodyOptions) {
  const { exponentOfCurrency, withSettings } = await import('./setting.ts');
  const changed = withSettings(body, set, allow.includes('unknown-field'));
  const exponent = allow.includes('exponent') ? undefined : exponentOfCurrency(changed, set);
  if (exponent === undefined) return changed;
  context.notices.note(
    `purchase_info.exponent is set to ${exponent.value} too, the minor units of ${exponent.currency}`,
  );
  return withSettings(changed, [{ name: 'purchase_info.exponent', value: exponent.value }], false);
}

/** A body that may be sent. */
export interface CheckedBody {
  /** The body to send, with numeric currency codes. */
  readonly body: unknown;
  /** The amount for people, such as `500,000 JPY`; null without an amount. */
  readonly amount_text: string | null;
  /** Warnings, and errors that `--allow` lifts. */
  readonly violations: readonly Violation[];
}

/** Checks a body for a type of session. @throws SvcError `refused_input` */
export async function checkedBody(
  context: Context,
  name: string,
  given: unknown,
  { sessionType, allow = [] }: Pick<BodyOptions, 'allow'> & { readonly sessionType?: SessionType | undefined },
): Promise<CheckedBody> {
  const [{ checkBody, inOrder }, { amountTextOf, contradictionsIn }, { withNumericCurrencies }] = await Promise.all([
    import('./check-body.ts'),
    import('./contradictions.ts'),
    import('./setting.ts'),
  ]);
  const body = withNumericCurrencies(given);
  const violations = inOrder([...checkBody(body, sessionType), ...contradictionsIn(given, context.clock.now())]);
  refuseErrors(name, violations, allow);
  return { body, amount_text: amountTextOf(body) ?? null, violations };
}

/** Warns of the violations in these bodies, each text once. */
export function warnOfViolations({ notices }: Context, bodies: readonly Pick<CheckedBody, 'violations'>[]): void {
  const texts = bodies.flatMap(({ violations }) => violations.map(warningOf));
  for (const text of [...new Set(texts)].slice(0, MAX_SHOWN)) notices.warn(text);
}

function warningOf(violation: Violation): string {
  return `${violation.severity === 'error' ? `allowed (${violation.rule}): ` : ''}${describeProblem(violation)}`;
}

/** Notes the amount and the warnings of a body, for a person to see before the body is sent. */
export function reportBody(context: Context, body: Pick<CheckedBody, 'amount_text' | 'violations'>): void {
  if (body.amount_text !== null) context.notices.note(`amount: ${body.amount_text}`);
  warnOfViolations(context, [body]);
}

/** The largest number of violations to show. */
const MAX_SHOWN = 50;

/** Refuses a body that breaks rules. Names each violation with its path and an example. @throws SvcError `refused_input` */
function refuseErrors(name: string, violations: readonly Violation[], allow: readonly LiftableRule[]): void {
  const warnings = violations.filter(({ severity }) => severity === 'warning');
  const broken = violations.filter(
    ({ rule, severity }) => severity === 'error' && !allow.some((allowed) => allowed === rule),
  );
  if (broken.length === 0) return;
  const shown = broken.slice(0, MAX_SHOWN);
  const count = countText(broken.length, 'validation error');
  const more = shown.length < broken.length ? ` (the first ${MAX_SHOWN} are shown)` : '';
  const lifts = LIFTABLE_RULES.filter((one) => one !== 'unknown-field' && broken.some(({ rule }) => rule === one));
  const options = lifts.map((rule) => `--allow ${rule}`).join(' ');
  throw new SvcError('refused_input', `${name}: ${count}${more}`, {
    hint: `Fix these fields, or start from a valid body.${options && ` If your acquirer accepts the body as is: ${options}.`}`,
    next: ['3ds', 'template', '<type>'],
    facts: { problems: shown.map(describeProblem), violations: [...shown, ...warnings].slice(0, MAX_SHOWN) },
  });
}

function describeProblem({ path, message, example, suggestion, severity }: Violation): string {
  const meant = suggestion === undefined ? '' : `. ${questionOf(suggestion)}`;
  const hasSample = example !== undefined && suggestion === undefined && severity === 'error';
  return `${path} ${message}${meant}${hasSample ? `; for example ${JSON.stringify(example)}` : ''}`;
}
