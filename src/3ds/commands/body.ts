import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { readJsonBody } from '../../cli/app/json-body.ts';
import { argument, choice, flag, type Input, nameValue, repeated, text } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { countText } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import {
  AUTHENTICATION_CATEGORIES,
  SESSION_TYPES,
  SESSION_TYPES_BY_AUTHENTICATION_TYPE,
} from '../../schema/three-ds/values.ts';
import type { Violation } from '../check.ts';
import { type Combination, sessionTypesOf, UNKNOWN_MEMBER, usualCategoryOf } from '../rules.ts';
import type { Setting } from '../setting.ts';

const templateParameters = {
  type: {
    ...argument('<authentication-type>', 'what the body is to authenticate'),
    choices: Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE),
  },
  category: choice(
    '--category <category>',
    'by default the one that usually goes with the type',
    AUTHENTICATION_CATEGORIES,
  ),
  sessionType: choice('--session-type <type>', 'by default customer, where the type goes with both', SESSION_TYPES),
} as const;

/** Members of a body. Their own members are known to the schema, which takes long to load. */
const BODY_FIELDS = fieldPaths(`
  authentication_category authentication_type request_decoupled_challenge
  decoupled_challenge_max_time challenge_preference purchase_info.* merchant_info.* requestor_info.*
  cardholder_info.* broadcast_info message_extensions
`);

export const template = defineCommand({
  description:
    "JSON with // comments, which 'validate' and 'authenticate' accept. With -o json (or another machine format) it has no comments.",
  examples: [
    ['svc 3ds template payment-transaction > body.json', 'a payment with the cardholder present'],
    ['svc 3ds template recurring-transaction --session-type merchant', 'a later payment of a series'],
    ['svc 3ds template add-card -o json', 'without comments'],
  ],
  fields: BODY_FIELDS,
  parameters: templateParameters,
  async run(context, input) {
    const combination = combinationOf(input);
    const { settings, globals, query } = context;
    const format = settings.output.value ?? 'table';
    const { commentedTemplate, exampleBody } = await import('../template.ts');
    if (format === 'table' && globals.fields === undefined && !query)
      return context.out.write(commentedTemplate(combination));
    const { BODY, fieldsBelow } = await import('../../schema/three-ds/fields.ts');
    const fields = fieldsBelow(BODY).filter(({ kind }) => kind !== 'object');
    const view: View = { name: 'request body', fields: fields.map(({ path }) => path), columns: [] };
    const print = await recordPrinter(context, view);
    await print(exampleBody(combination));
  },
});

function combinationOf({ type, category, sessionType }: Input<typeof templateParameters>): Combination {
  const allowed = sessionTypesOf(type);
  if (sessionType !== undefined && !allowed.includes(sessionType)) {
    throw new SvcError('usage', `${type} goes with sessions of type ${allowed.join()} only`, {
      hint: 'Leave out --session-type, or give another authentication type.',
    });
  }
  return { type, category: category ?? usualCategoryOf(type), sessionType: sessionType ?? allowed[0] };
}

/** `--set` and `--allow-unknown` of the commands that check a body. */
export const bodyParameters = {
  set: repeated('--set <path=value>', 'put a value into the body; may be repeated', nameValue),
  allowUnknown: flag('--allow-unknown', 'allow fields that the interface does not have; every other rule still holds'),
} as const;

/** `session_types` are those that the body can be sent to. */
const checkedBodyView: View = {
  name: 'checked body',
  fields: ['file', 'valid', 'authentication_category', 'authentication_type', 'session_types'],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'valid', kind: 'status', paint: () => 'good' },
  ],
};

export const validate = defineCommand({
  description:
    'Every violation is named at once, by its path, with the rule and an example; no value of the body is shown. The body is JSON, which may contain // comments.',
  examples: [
    ['svc 3ds validate body.json', 'which rules it breaks, or for which sessions it is valid'],
    ['svc 3ds validate body.json --session-type merchant', 'for a merchant-initiated session'],
    ['svc 3ds template add-card | svc 3ds validate -', 'from a pipe'],
  ],
  exitCodes: [13],
  fields: checkedBodyView.fields,
  parameters: {
    file: argument('<file|->', 'a body, or - for standard input', text),
    sessionType: choice('--session-type <type>', 'the session that it is meant for', SESSION_TYPES),
    ...bodyParameters,
  },
  async run(context, { file, sessionType, set, allowUnknown }) {
    const print = await recordPrinter(context, checkedBodyView);
    const { checkBody } = await import('../check.ts');
    const body = await readBody(context, file, set, allowUnknown);
    const unknown = checkViolations(file, checkBody(body, sessionType), allowUnknown);
    const session_types = SESSION_TYPES.filter((type) => checkBody(body, type).length === unknown.length);
    const { authentication_category, authentication_type } = body as AuthenticateRequest;
    const name = bodyName(file);
    await print({ file: name, valid: true, authentication_category, authentication_type, session_types });
    if (unknown.length > 0) context.notices.warn(`unknown fields: ${pathWords(unknown)}`);
    if (sessionType !== undefined) return;
    const [only, other] = session_types;
    if (other === undefined)
      context.notices.note(`valid for ${only} sessions; use --session-type to see what the other type needs`);
  },
});

function bodyName(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** The body of an authentication from a file, or from standard input for `-`, with the values of `--set` put in. */
export async function readBody(context: Context, file: string, set: readonly Setting[], allowUnknown: boolean) {
  const [{ withNumericCurrencies, withSettings }, json] = await Promise.all([
    import('../setting.ts'),
    readJsonBody(context, file),
  ]);
  return withNumericCurrencies(withSettings(json, set, allowUnknown));
}

/** More than this only buries what matters. */
const MOST_SHOWN = 50;

/**
 * Refuses a body that breaks rules, naming each with its path and an example, and nothing of the body itself.
 * Returns the paths of unknown fields where these are allowed.
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

/** Paths for a message, as many as can be read. */
export function pathWords(paths: readonly string[]): string {
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : '';
  return `${paths.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

function describeProblem({ path, rule, example, suggestion }: Violation): string {
  const meant = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  const sample = example === undefined || suggestion !== undefined ? '' : `; for example ${JSON.stringify(example)}`;
  return `${path} ${rule}${meant}${sample}`;
}
