// Makes the template of an authentication body that a person fills in.

import { isObject } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';
import { DAY_MS } from '../schema/durations.ts';
import { ownValue } from '../schema/three-ds/body-values.ts';
import { BODY, type Field } from '../schema/three-ds/fields.ts';
import type { Combination } from '../schema/three-ds/needs.ts';
import type { Currency } from '../schema/three-ds/tables.ts';
import { dayOf, secondOf } from './contradictions.ts';
import { exampleBody } from './example-body.ts';
import { type Setting, withSettings } from './setting.ts';

/** Returns an example body with the current time as the purchase date, in a currency if one is given. */
export function templateBody(combination: Combination, now: number, currency?: Currency): unknown {
  const body = exampleBody(combination);
  const settings = [
    { name: 'purchase_info.date', value: secondOf(now) },
    { name: 'purchase_info.recurring_expiration', value: dayOf(now + YEAR_MS) },
    ...(currency === undefined ? [] : [{ name: 'purchase_info.currency', value: currency.number }]),
    ...(currency?.units === undefined ? [] : [{ name: 'purchase_info.exponent', value: String(currency.units) }]),
  ];
  const isThere = ({ name }: Setting): boolean => ownValue(body, name.split('.')) !== undefined;
  return withSettings(body, settings.filter(isThere), false);
}

const YEAR_MS = 365 * DAY_MS;

/** Formats a body as JSON with a comment after each value, for a person to start from. */
export function commentedTemplate({ category, type, sessionType }: Combination, body: unknown): string {
  const head = [
    `// ${String(type)}, ${String(category)}, for a session of type ${String(sessionType)}.`,
    '// Every value is an example: put your own in its place. Comments may stay, svc leaves them out when it sends.',
  ];
  return `${head.join('\n')}\n${formatField(BODY, isObject(body) ? body : {}, '')}\n`;
}

function formatField(field: Field, value: Readonly<Record<string, unknown>>, indent: string): string {
  const inner = `${indent}  `;
  const members = [...field.members].filter(([name]) => Object.hasOwn(value, name));
  const lines = members.flatMap(([name, member], at) => {
    const comma = at === members.length - 1 ? '' : ',';
    const child = value[name];
    const start = `${inner}${JSON.stringify(name)}: `;
    if (!isObject(child)) return [`${start}${JSON.stringify(child)}${comma} // ${commentOf(member)}`];
    const comments = [member.description].concat(ownMember(NOTES, member.path) ?? []);
    return comments.map((line) => `${inner}// ${line}`).concat(`${start}${formatField(member, child, inner)}${comma}`);
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

// Documented remarks about whole objects.
const NOTES: Readonly<Record<string, readonly string[]>> = {
  requestor_info: [
    'id and name depend on the card network: the merchant id, with the merchant name or a fixed prefix and the id;',
    'or acquirer BIN, MCT and merchant id; or a type code (MER, AGG, JCB, OTA, OPT, WAL) and the merchant id;',
    'or a client id from the enrollment; or a tax-registry number.',
  ],
};

// Only a short list of choices fits after a value.
function commentOf({ description, choices }: Field): string {
  return choices !== undefined && choices.length <= 5 ? `${description}: ${choices.join(', ')}` : description;
}
