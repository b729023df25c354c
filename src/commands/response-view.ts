import { exactItem, replaceMembers } from '../json/exact.ts';
import { sourceFrom } from '../json/source.ts';
import { type Column, columnFor, isObject, leafPaths, type View } from '../output/view.ts';

const ADDRESS = /^(?:upload|download)_?url$/i;
const MOST_COLUMNS = 12;

/** A response as it was sent, but with its upload and download addresses hidden: they are secrets. */
export function withoutAddresses(text: string): unknown {
  const shown = replaceMembers(sourceFrom(text).text, (name) => ADDRESS.test(name), '"(hidden)"');
  return exactItem(JSON.parse(shown), sourceFrom(shown));
}

/** A view made from the objects that are to be shown: every path is known, columns drop from the right. */
export function responseView(samples: readonly unknown[]): View {
  const paths = [...new Set(samples.flatMap((sample) => leafPaths(sample)))];
  const columns = paths.slice(0, MOST_COLUMNS).map((path, at) => columnAt(path, at));
  return { name: 'response', fields: [...paths, '*'], columns };
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
