import { SvcError } from '../errors.ts';
import { type Column, columnFor, type View } from '../render/view.ts';
import { isObject, leafPaths } from '../render/paths.ts';

const ADDRESS = /^(?:upload|download)_?url$/i;
const DEEPEST = 500;
const MOST_COLUMNS = 12;

/** The answer with its upload and download addresses hidden, wherever in it they stand: they are secrets. */
export function withoutAddresses(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST)
    throw new SvcError('bad_answer', `the answer is nested more than ${DEEPEST} levels deep`);
  if (Array.isArray(value)) return value.map((item) => withoutAddresses(item, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isSecret = ADDRESS.test(key) && inner !== null;
      return [key, isSecret ? '(hidden)' : withoutAddresses(inner, depth + 1)];
    }),
  );
}

/** A view made from the objects that are to be shown: every path is known, columns drop from the right. */
export function answerView(samples: readonly unknown[]): View {
  const paths = [...new Set(samples.flatMap((sample) => leafPaths(sample)))];
  const columns = paths.slice(0, MOST_COLUMNS).map((path, at) => columnAt(path, at));
  return { name: 'answer', fields: [...paths, '*'], columns };
}

/** What stands for an item in a table or in CSV, where every row has named columns. */
export function asRow(item: unknown): unknown {
  return isObject(item) ? item : { value: item };
}

function columnAt(path: string, at: number): Column {
  const { kind } = columnFor(NOTHING_KNOWN, path);
  return { path, kind, priority: at === 0 ? undefined : MOST_COLUMNS - at };
}

const NOTHING_KNOWN: View = { name: '', fields: [], columns: [] };
