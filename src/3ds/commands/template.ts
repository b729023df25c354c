import { ownValue } from '../../schema/three-ds/body-values.ts';
import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { argument, choice, type Input, suggesting, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import {
  AUTHENTICATION_CATEGORIES,
  SESSION_TYPES,
  SESSION_TYPES_BY_AUTHENTICATION_TYPE,
  sessionTypesOf,
} from '../../schema/three-ds/values.ts';
import type { Combination } from '../../schema/three-ds/needs.ts';
import { allCurrencies, type Currency, currencyOf } from '../../schema/three-ds/tables.ts';

const templateParameters = {
  type: {
    ...argument('<authentication-type>', 'what to authenticate'),
    choices: Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE),
    suggest: { wordsOf: 'authentication type' },
  },
  category: suggesting(
    { wordsOf: 'authentication category' },
    choice('--category <category>', 'default: the usual one of the type', AUTHENTICATION_CATEGORIES),
  ),
  sessionType: choice('--session-type <type>', 'default: customer, if the type allows both', SESSION_TYPES),
  currency: suggesting(
    () => allCurrencies().flatMap(({ code, number, isMoney, until }) => (isMoney && !until ? [[code, number]] : [])),
    value('--currency <code>', 'the currency of the purchase, such as JPY, with its exponent', text),
  ),
} as const;

/** The top members of a body, for completion. The schema, which has all fields, takes too long to load. */
const BODY_FIELDS = fieldPaths(`
  authentication_category authentication_type request_decoupled_challenge
  decoupled_challenge_max_time challenge_preference purchase_info.* merchant_info.* requestor_info.*
  cardholder_info.* broadcast_info message_extensions
`);

export const template = defineCommand({
  description:
    "Prints JSON with // comments, which 'validate' and 'authenticate' accept. With -o json or another machine format it has no comments.",
  examples: [
    ['svc 3ds template payment-transaction > body.json', 'a payment with the cardholder present'],
    ['svc 3ds template recurring-transaction --session-type merchant', 'a later payment of a series'],
    ['svc 3ds template payment-transaction --currency JPY', 'in yen, with the exponent 0'],
    ['svc 3ds template add-card -o json', 'without comments'],
  ],
  onlyPrints: true,
  fields: BODY_FIELDS,
  parameters: templateParameters,
  async run(context, input) {
    const combination = combinationOf(input);
    const currency = input.currency === undefined ? undefined : currencyToPayIn(input.currency);
    const { settings, globals, query } = context;
    const format = settings.output.value ?? 'table';
    const { commentedTemplate, templateBody } = await import('../template.ts');
    const { BODY, fieldsBelow } = await import('../../schema/three-ds/fields.ts');
    const body = templateBody(combination, context.clock.now(), currency);
    if (currency !== undefined && ownValue(body, ['purchase_info', 'currency']) === undefined)
      throw new SvcError('usage', 'this body has no purchase, so it takes no --currency');
    if (format === 'table' && globals.fields === undefined && !query)
      return context.out.write(commentedTemplate(combination, body));
    const fields = fieldsBelow(BODY).filter(({ kind }) => kind !== 'object');
    const view: View = { name: 'request body', fields: fields.map(({ path }) => path), columns: [] };
    const print = await recordPrinter(context, view);
    await print(body as object);
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

/** Returns the currency for a typed code. @throws SvcError `usage` for a code that is not in ISO 4217 or is no money today */
function currencyToPayIn(typed: string): Currency {
  const currency = currencyOf(typed);
  if (currency === undefined || !currency.isMoney)
    throw new SvcError('usage', '--currency must be the code of a currency of ISO 4217, such as USD or 840');
  const { code, until, successor } = currency;
  if (until === undefined) return currency;
  throw new SvcError('usage', `ISO 4217 lists ${code} as historic since ${until}`, {
    hint: `${successor} replaced it.`,
  });
}

const WITHOUT_MONEY = new Set([
  'cardholder-emv-verification',
  'whitelist-status-check',
  'billing-agreement',
  'add-card',
  'maintain-card',
  'account-verification',
]);

/** Returns the usual category for an authentication type. The service accepts both. */
function usualCategoryOf(type: string): 'payment' | 'non-payment' {
  return WITHOUT_MONEY.has(type) ? 'non-payment' : 'payment';
}
