import { defineCommand } from '../../cli/app/command.ts';
import { DOCUMENTS, argument, choice, reading } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import { SESSION_TYPES } from '../../schema/three-ds/values.ts';
import { bodyName, bodyParameters, checkedBody, readBody, warnOfViolations } from '../body.ts';

/** `session_types` lists the session types for which the body is valid. */
const checkedBodyView: View = {
  name: 'checked body',
  fields: fieldPaths('file valid authentication_category authentication_type session_types amount_text violations'),
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'valid', kind: 'status', paint: () => 'good' },
    { path: 'amount_text', header: 'amount', kind: 'text' },
  ],
};

export const validate = defineCommand({
  description:
    'Checks the body against the interface, ISO 4217 and ISO 3166, and reports all violations at once, each with its rule, path and an example. The body is JSON and may contain // comments.',
  details:
    'An error ends with 13. --allow lifts a rule where the body contradicts itself or a public table, such as exponent, and your acquirer takes it all the same. A warning is about what many servers refuse and the interface does not name. svc explain has every rule.',
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
  async run(context, { file, sessionType, set, allow }) {
    const print = await recordPrinter(context, checkedBodyView);
    const { checkBody } = await import('../check-body.ts');
    const { rewrittenCurrencies } = await import('../setting.ts');
    const given = await readBody(context, file, { set, allow });
    const name = bodyName(file);
    const { body, amount_text, violations } = await checkedBody(context, name, given, { sessionType, allow });
    const unknown = violations.filter(({ rule }) => rule === 'unknown-field').length;
    const session_types = SESSION_TYPES.filter((type) => checkBody(body, type).length === unknown);
    const { authentication_category, authentication_type } = body as AuthenticateRequest;
    const types = { authentication_category, authentication_type, session_types };
    await print({ file: name, valid: true, ...types, amount_text, violations });
    warnOfViolations(context, [{ violations }]);
    for (const { path, code } of rewrittenCurrencies(given))
      context.notices.note(`${path} is not sent as given: svc sends its ISO 4217 number, ${code}`);
    if (sessionType !== undefined) return;
    const [only, other] = session_types;
    if (other === undefined)
      context.notices.note(`valid for ${only} sessions; use --session-type to see what the other type needs`);
  },
});
