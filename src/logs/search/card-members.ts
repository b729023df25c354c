// Describes entries with card numbers, without showing the numbers.

import { JsonToken, readExact } from '../../base/json/exact.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { jsonHasCardNumber } from '../../cli/output/formats.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { logText } from '../../client/api/logs.ts';
import { isObject } from '../../schema/json-value.ts';
import { LOG_FIELDS } from '../../schema/log-fields.ts';
import type { Log } from '../../schema/log.ts';

/** The members that identify an entry, without its text. */
const IDS = ['created_at', 'tenant_id', 'entity_type', 'entity_id', 'operation', 'actor_type', 'actor_id'] as const;

/** An entry with what looks like a card number: its identity, and the paths of the members with the number. */
export type CardEntry = Readonly<Record<(typeof IDS)[number], string | null>> & { readonly members: readonly string[] };

export const cardEntryView: View<CardEntry> = {
  name: 'entry with a card number',
  fields: [...IDS, 'members'],
  columns: [
    ...simpleColumns({ created_at: 'time', operation: 'text', entity_type: 'text' }),
    { path: 'entity_id', kind: 'id', priority: 2 },
    { path: 'actor_id', kind: 'id', priority: 1 },
    { path: 'members', kind: 'text' },
  ],
};

/** Shown in place of the name of a member that is a card number itself. */
const HIDDEN_NAME = '(card number)';
/** Shown if no single member contains the number, only the text across several members. */
const ELSEWHERE = '(several members together)';

/** Whether an entry, as the service sent it, seems to contain a card number. */
export function entryHasCardNumber(log: Log): boolean {
  return jsonHasCardNumber(logText(log));
}

/** Describes an entry without any part of a card number. A value that contains one is null. */
export function cardEntry(log: Log): CardEntry {
  const shown = (name: (typeof IDS)[number]): string | null => {
    const value = log[name];
    return typeof value !== 'string' || containsCardNumber(value) ? null : value;
  };
  const members = cardMembers(logText(log));
  return {
    created_at: shown('created_at'),
    tenant_id: shown('tenant_id'),
    entity_type: shown('entity_type'),
    entity_id: shown('entity_id'),
    operation: shown('operation'),
    actor_type: shown('actor_type'),
    actor_id: shown('actor_id'),
    members: members.length === 0 ? [ELSEWHERE] : members,
  };
}

/** Lists the dotted paths of the members whose name or value contains a card number. The items of a list have the path of the list. */
function cardMembers(text: string): string[] {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, path);
    else if (isObject(value) && !(value instanceof JsonToken)) {
      for (const [name, member] of Object.entries(value)) {
        const isHidden = containsCardNumber(name);
        const at = joined(path, isHidden ? HIDDEN_NAME : name);
        if (isHidden) found.add(at);
        visit(member, at);
      }
    } else if (valueHasCardNumber(value)) found.add(path === '' ? ELSEWHERE : path);
  };
  visit(readExact(text).value, '');
  // Documented members come first.
  const documented: ReadonlySet<string> = new Set(LOG_FIELDS);
  return [...found].toSorted((one, other) => Number(documented.has(other)) - Number(documented.has(one)));
}

function valueHasCardNumber(value: unknown): boolean {
  if (value instanceof JsonToken) return jsonHasCardNumber(value.text);
  return containsCardNumber(typeof value === 'string' ? value : JSON.stringify(value));
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
