import type { View } from '../cli/output/view.ts';
import { LOG_FIELDS } from '../schema/log-fields.ts';
import type { Log } from '../schema/log.ts';

export const logView: View<Log> = {
  name: 'log entry',
  fields: LOG_FIELDS,
  columns: [
    { path: 'created_at', kind: 'time' },
    { path: 'operation', kind: 'text', paint: (value) => (value === 'delete' ? 'bad' : undefined) },
    { path: 'entity_type', header: 'entity', kind: 'text' },
    { path: 'actor_type', header: 'actor', kind: 'text' },
    { path: 'entity_id', kind: 'id', priority: 2 },
    { path: 'actor_id', kind: 'id', priority: 1 },
    { path: 'message', kind: 'text', priority: 3, repeats: onlyRepeats },
  ],
};

// A message such as "Card created" repeats the columns "create" and "card".
function onlyRepeats({ operation, entity_type: type, message }: Log): boolean {
  const noun = wordsOf(type);
  const said = wordsOf(message);
  const verb = wordsOf(operation).replace(/e$/, '');
  if (said === '' || said === noun) return true;
  if (noun === '' || verb === '' || !said.startsWith(noun)) return false;
  const rest = said.slice(noun.length).replace(/^s? /, '');
  return rest.startsWith(verb) && /^e?d?$/.test(rest.slice(verb.length));
}

function wordsOf(text: string | null | undefined): string {
  return (text ?? '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
