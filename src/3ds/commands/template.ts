import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { argument, choice, type Input, suggesting } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import {
  AUTHENTICATION_CATEGORIES,
  SESSION_TYPES,
  SESSION_TYPES_BY_AUTHENTICATION_TYPE,
} from '../../schema/three-ds/values.ts';
import { type Combination, sessionTypesOf, usualCategoryOf } from '../rules.ts';

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
} as const;

/** The top members of a body, for completion. The schema knows the others, but takes long to load. */
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
    ['svc 3ds template add-card -o json', 'without comments'],
  ],
  onlyPrints: true,
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
