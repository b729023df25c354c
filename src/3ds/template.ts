import { isObject } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';
import { BODY, type Field } from '../schema/three-ds/fields.ts';
import { type Combination, NEEDS } from './rules.ts';

/** Makes a body with exactly the fields that this combination requires, each with the example of its schema. */
export function exampleBody(combination: Combination, { members }: Field = BODY): Record<string, unknown> {
  const wanted = [...members].filter(([, member]) => isNeeded(member, combination));
  return Object.fromEntries(
    wanted.map(([name, member]) => [
      name,
      member.kind === 'object' ? exampleBody(combination, member) : valueOf(member, combination),
    ]),
  );
}

/** Writes an example body as JSON with a comment behind each value, as a start for a person. */
export function commentedTemplate(combination: Combination): string {
  const { category, type, sessionType } = combination;
  const head = [
    `// ${String(type)}, ${String(category)}, for a session of type ${String(sessionType)}.`,
    '// Every value is an example: put your own in its place. Comments may stay, svc leaves them out when it sends.',
  ];
  return `${head.join('\n')}\n${drawn(BODY, exampleBody(combination), '')}\n`;
}

function isNeeded({ path, required }: Field, combination: Combination): boolean {
  return required || NEEDS.some((need) => need.path === path && need.when.holds(combination));
}

// Only known values of a body are copied: an example must be valid, and reveal nothing of the body.
function valueOf({ path, choices, example }: Field, { category, type }: Combination): unknown {
  const given: Readonly<Record<string, unknown>> = { authentication_category: category, authentication_type: type };
  return choices?.find((choice) => choice === ownMember(given, path)) ?? example;
}

function drawn(field: Field, value: Readonly<Record<string, unknown>>, indent: string): string {
  const inner = `${indent}  `;
  const members = [...field.members].filter(([name]) => Object.hasOwn(value, name));
  const lines = members.flatMap(([name, member], at) => {
    const comma = at === members.length - 1 ? '' : ',';
    const child = value[name];
    const start = `${inner}${JSON.stringify(name)}: `;
    if (!isObject(child)) return [`${start}${JSON.stringify(child)}${comma} // ${commentOf(member)}`];
    const comments = [member.description].concat(ownMember(NOTES, member.path) ?? []);
    return comments.map((line) => `${inner}// ${line}`).concat(`${start}${drawn(member, child, inner)}${comma}`);
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

// Remarks of the interface about whole objects.
const NOTES: Readonly<Record<string, readonly string[]>> = {
  requestor_info: [
    'id and name depend on the card network: the merchant id, with the merchant name or a fixed prefix and the id;',
    'or acquirer BIN, MCT and merchant id; or a type code (MER, AGG, JCB, OTA, OPT, WAL) and the merchant id;',
    'or a client id from the enrollment; or a tax-registry number.',
  ],
};

// A long list of values would not fit beside a value.
function commentOf({ description, choices }: Field): string {
  return choices !== undefined && choices.length <= 5 ? `${description}: ${choices.join(', ')}` : description;
}
