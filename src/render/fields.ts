import { SvcError } from '../errors.ts';
import { exactValue } from '../exact-json.ts';
import { nearest } from '../nearest.ts';
import { typedWord } from '../security/typed-word.ts';
import { pickPaths, replaceAt } from './paths.ts';
import type { View } from './view.ts';

/**
 * The paths that a `--fields` list chooses, in its order and each once; undefined without a list.
 * A known path, anything above one (`settings`), any key below a `.*`, and any path marked with + are accepted.
 * Throws `usage` for everything else.
 */
export function chooseFields<T>(view: View<T>, list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const paths = list.split(',').map((path) => path.trim());
  const unknown = paths.find((path) => !isMarked(path) && !isKnown(view, path));
  if (unknown !== undefined) throw unknownField(view, unknown);
  return [...new Set(paths.map((path) => (isMarked(path) ? path.slice(1) : path)))];
}

/** Turns a row into what is shown of it: all that it was parsed from, secrets hidden, then the chosen fields. */
export function projection<T>(
  view: View<T>,
  paths: readonly string[] | undefined,
  showUrls: boolean,
): (row: T) => unknown {
  const hidden = showUrls ? [] : (view.secret ?? []);
  return (row) => {
    const exact = exactValue(row);
    const shown = hidden.length === 0 ? exact : replaceAt(exact, hidden, '(hidden)');
    return paths === undefined ? shown : pickPaths(shown, paths);
  };
}

/** Whether a path is marked as one that the service may have and svc does not know: `+new_member`. */
function isMarked(path: string): boolean {
  return /^\+[^.]+(?:\.[^.]+)*$/.test(path);
}

function isKnown<T>(view: View<T>, path: string): boolean {
  return view.fields.some(
    (field) =>
      field === '*' ||
      field === path ||
      field.startsWith(`${path}.`) ||
      (field.endsWith('.*') && path.startsWith(field.slice(0, -1)) && path.length > field.length - 1),
  );
}

function unknownField<T>(view: View<T>, path: string): SvcError {
  const meant = nearest(path, view.fields);
  const known = `Choose from: ${view.fields.join(', ')}. Write + before one that is new: +name.`;
  return new SvcError('usage', `unknown field ${typedWord(path, view.fields)} of this ${view.name}`, {
    hint: meant === undefined ? known : `Did you mean "${meant}"? ${known}`,
    facts: { known_fields: view.fields },
  });
}
