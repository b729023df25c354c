import { defineCommand } from '../../app/command.ts';
import { argument, choice, nameValue, repeated, text } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { SESSION_TYPES, type SessionType } from '../../schema/three-ds/values.ts';
import { allowUnknownParameter, checkViolations, pathWords, readBody } from './body.ts';
import { type CheckedBody, checkedBodyView } from './view.ts';

/** `svc 3ds validate` */
export const validate = defineCommand({
  description:
    'Every violation is named at once, by its path, with the rule and an example; no value of the body is shown. The body is JSON, in which // comments may stand.',
  examples: [
    ['svc 3ds validate body.json', 'which rules it breaks, or for which sessions it is right'],
    ['svc 3ds validate body.json --session-type merchant', 'for a merchant-initiated session'],
    ['svc 3ds template add-card | svc 3ds validate -', 'from a pipe'],
  ],
  exitCodes: [13],
  fields: checkedBodyView.fields,
  parameters: {
    file: argument('<file|->', 'a body, or - for standard input', text),
    sessionType: choice('--session-type <type>', 'the session that it is meant for', SESSION_TYPES),
    set: repeated('--set <path=value>', 'put a value into the body first; may be repeated', nameValue),
    allowUnknown: allowUnknownParameter,
  },
  async run(context, { file, sessionType, set, allowUnknown }) {
    const print = await recordPrinter(context, checkedBodyView);
    const { checkBody } = await import('../../three-ds/check.ts');
    const body = await readBody(context, file, set, allowUnknown);
    const name = file === '-' ? 'standard input' : file;
    const unknown = checkViolations(name, checkBody(body, sessionType), allowUnknown);
    const types = SESSION_TYPES.filter((type) => checkBody(body, type).length === unknown.length);
    await print(checked(name, body, types));
    if (unknown.length > 0) context.notices.warn(`fields that are not known: ${pathWords(unknown)}`);
    if (sessionType === undefined) context.notices.note(rightFor(types));
  },
});

function checked(file: string, body: unknown, session_types: readonly SessionType[]): CheckedBody {
  const { authentication_category, authentication_type } = body as CheckedBody;
  return { file, valid: true, authentication_category, authentication_type, session_types };
}

function rightFor(types: readonly SessionType[]): string {
  const which = types.length > 1 ? 'sessions of both types' : `sessions of type ${types.join()} only`;
  return `the body is right for ${which}; --session-type says what another one would need`;
}
