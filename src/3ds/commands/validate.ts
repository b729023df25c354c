import { defineCommand } from '../../cli/app/command.ts';
import { DOCUMENTS, argument, choice, reading } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import type { View } from '../../cli/output/view.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';
import { bodyParameters, readBodyAsGiven, checkViolations, bodyName, pathWords } from '../body.ts';

/** `session_types` are the types of session to which the body can be sent. */
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
    'Reports all violations at once, each with its path, the rule and an example, but no value of the body. The body is JSON and may contain // comments.',
  examples: [
    ['svc 3ds validate body.json', 'which rules it breaks, or for which sessions it is valid'],
    ['svc 3ds validate body.json --session-type merchant', 'for a merchant-initiated session'],
    ['svc 3ds template add-card | svc 3ds validate -', 'from a pipe'],
  ],
  exitCodes: [[13, 'the body breaks a rule']],
  fields: checkedBodyView.fields,
  parameters: {
    file: reading(argument('<file|->', 'a body, or - for standard input', text), DOCUMENTS),
    sessionType: choice('--session-type <type>', 'check it for this type of session', SESSION_TYPES),
    ...bodyParameters,
  },
  async run(context, { file, sessionType, set, allowUnknown }) {
    const print = await recordPrinter(context, checkedBodyView);
    const { checkBody } = await import('../check-body.ts');
    const { rewrittenCurrencies, withNumericCurrencies } = await import('../setting.ts');
    const given = await readBodyAsGiven(context, file, set, allowUnknown);
    const body = withNumericCurrencies(given);
    const unknown = checkViolations(file, checkBody(body, sessionType), allowUnknown);
    const session_types = SESSION_TYPES.filter((type) => checkBody(body, type).length === unknown.length);
    const { authentication_category, authentication_type } = body as AuthenticateRequest;
    const name = bodyName(file);
    await print({ file: name, valid: true, authentication_category, authentication_type, session_types });
    for (const { path, code } of rewrittenCurrencies(given))
      context.notices.note(`${path} is not sent as given: svc sends its ISO 4217 number, ${code}`);
    if (unknown.length > 0) context.notices.warn(`unknown fields: ${pathWords(unknown)}`);
    if (sessionType !== undefined) return;
    const [only, other] = session_types;
    if (other === undefined)
      context.notices.note(`valid for ${only} sessions; use --session-type to see what the other type needs`);
  },
});
