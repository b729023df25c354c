import { defineCommand } from '../../app/command.ts';
import { argument, choice, type Input } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import {
  AUTHENTICATION_CATEGORIES,
  SESSION_TYPES,
  SESSION_TYPES_BY_AUTHENTICATION_TYPE,
} from '../../schema/three-ds/values.ts';
import { type Combination, sessionTypesOf, usualCategoryOf } from '../../three-ds/rules.ts';

const TYPES = Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE);

const parameters = {
  type: { ...argument('<authentication-type>', 'what the body is to authenticate'), choices: TYPES },
  category: choice(
    '--category <category>',
    'by default the one that usually goes with the type',
    AUTHENTICATION_CATEGORIES,
  ),
  sessionType: choice(
    '--session-type <type>',
    'by default customer, where the type goes with both',
    SESSION_TYPES,
  ),
} as const;

/** Members of a body. What is in them is known to its shape, which takes long to load. */
export const BODY_FIELDS = [
  'authentication_category',
  'authentication_type',
  'request_decoupled_challenge',
  'decoupled_challenge_max_time',
  'challenge_preference',
  'purchase_info.*',
  'merchant_info.*',
  'requestor_info.*',
  'cardholder_info.*',
  'broadcast_info',
  'message_extensions',
] as const;

/** `svc 3ds template` */
export const template = defineCommand({
  description:
    "JSON with // comments, which 'validate' and 'authenticate' read as it is. With -o json (or another machine format) it is plain.",
  examples: [
    ['svc 3ds template payment-transaction > body.json', 'a payment while the cardholder is there'],
    ['svc 3ds template recurring-transaction --session-type merchant', 'a later payment of a series'],
    ['svc 3ds template add-card -o json', 'without comments'],
  ],
  fields: BODY_FIELDS,
  parameters,
  async run(context, input) {
    const combination = combinationOf(input);
    const { settings, globals, query } = context;
    const asked = settings.output.value;
    if ((asked !== undefined && asked !== 'table') || globals.fields !== undefined || query) {
      const { requestBodyView } = await import('./request-body-view.ts');
      const print = await recordPrinter(context, requestBodyView());
      const { exampleBody } = await import('../../three-ds/template.ts');
      return print(exampleBody(combination));
    }
    const { commentedTemplate } = await import('../../three-ds/template.ts');
    await context.out.write(commentedTemplate(combination));
  },
});

function combinationOf({ type, category, sessionType }: Input<typeof parameters>): Combination {
  const allowed = sessionTypesOf(type);
  const [usual] = allowed;
  if (sessionType !== undefined && !allowed.includes(sessionType)) {
    throw new SvcError('usage', `${type} goes with sessions of type ${allowed.join()} only`, {
      hint: `Leave out --session-type, or give another authentication type.`,
    });
  }
  return { type, category: category ?? usualCategoryOf(type), sessionType: sessionType ?? usual };
}
