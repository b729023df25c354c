// The views of log entries.

import type { Context } from '../cli/app/command.ts';
import type { Column, Tone, View } from '../cli/output/view.ts';
import { LOG_FIELDS } from '../schema/log-fields.ts';
import type { Log } from '../schema/log.ts';
import { entityText } from './actor.ts';

/** The columns of a pipe and of --fields: the values as the service sent them. */
export const logView: View<Log> = {
  name: 'log entry',
  fields: LOG_FIELDS,
  columns: [
    { path: 'created_at', kind: 'time' },
    { path: 'operation', kind: 'text', paint: operationTone },
    { path: 'entity_type', header: 'entity', kind: 'text' },
    { path: 'actor_type', header: 'actor', kind: 'text' },
    { path: 'entity_id', kind: 'id', priority: 2 },
    { path: 'actor_id', kind: 'id', priority: 1 },
    { path: 'message', kind: 'text', priority: 3, repeats: onlyRepeats },
  ],
};

/** Returns the color of an operation, which is the same in every view. */
export function operationTone(operation: unknown): Tone | undefined {
  switch (operation) {
    case 'create':
      return 'good';
    case 'update':
      return 'warn';
    case 'delete':
      return 'bad';
    case 'read':
      return 'quiet';
    default:
      return undefined;
  }
}

/** A terminal of this width has room for the whole id of the entity beside a time, an operation and an actor. */
const ROOMY_COLUMNS = 116;
/** The widths below which another column drops first: a type with a short id, one with a whole id, and a name. */
export const MIN_WIDTHS = { entity: 25, wholeEntity: 60, actor: 20 } as const;

/** Returns the view of entries: with actors by name in a table, as wide as the terminal. */
export function viewWith(
  { out, globals, plain }: Pick<Context, 'out' | 'globals' | 'plain'>,
  actors: { readonly textOf: (log: Log) => string } | undefined,
): View<Log> {
  if (actors === undefined) return logView;
  const width = globals.wide || plain || !out.isTerminal ? Infinity : out.width;
  return peopleView((log) => actors.textOf(log), width);
}

/** Returns the columns for a person at a terminal, with actors by name. A width of Infinity shows all ids whole. */
function peopleView(actorOf: (log: Log) => string, width: number): View<Log> {
  const isRoomy = width >= ROOMY_COLUMNS && width < Infinity;
  const entity = isRoomy
    ? { show: unlessOdd(wholeEntity), minWidth: MIN_WIDTHS.wholeEntity }
    : { show: unlessOdd(entityText), minWidth: MIN_WIDTHS.entity };
  const columns = logView.columns.flatMap((column): readonly Column<Log>[] => {
    switch (column.path) {
      case 'actor_type':
        return [{ ...column, show: unlessOdd(actorOf), minWidth: MIN_WIDTHS.actor }];
      case 'entity_type':
        return [width === Infinity ? column : { ...column, ...entity }];
      case 'entity_id':
        return isRoomy ? [] : [column];
      default:
        return [column];
    }
  });
  return { ...logView, columns };
}

function wholeEntity({ entity_type: type, entity_id: id }: Log): string {
  return [type, id].filter(Boolean).join(' ');
}

/** Shows a value of another type than documented as the service sent it. */
function unlessOdd(textOf: (log: Log) => string): Column<Log>['show'] {
  return (value, log) => (value === undefined || value === null || typeof value === 'string' ? textOf(log) : value);
}

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
