import { hasMore, itemsIn } from '../api/any-endpoint.ts';
import { exactItem } from '../exact-json.ts';
import type { JsonBody } from '../http/any-answer.ts';
import { sourceFrom, sourceOf } from '../json-source.ts';
import { jsonLine } from '../render/json.ts';
import { isObject } from '../render/paths.ts';
import { answerView, asRow, withoutAddresses } from '../views/answer.ts';
import type { Context } from './context.ts';
import { formatOf, listPrinter, once, recordPrinter } from './print.ts';

/**
 * Writes an answer of unknown shape: an array as a list, an object as it is. A table and CSV show the items of a
 * list answer as rows, since they cannot show the object around them.
 */
export async function printAnswer(context: Context, body: JsonBody): Promise<void> {
  const items = Array.isArray(body.json) || isTabular(context) ? itemsIn(body) : undefined;
  if (items !== undefined) {
    await printItems(context, once(items));
    if (hasMore(body)) context.notices.note('more follow: --paginate for every page');
    return;
  }
  const shown = shownFrom(context, body);
  // A single text or number has no columns: it is its own JSON in every format.
  if (!isObject(shown) && !context.query) return context.out.write(`${jsonLine(shown)}\n`);
  await (
    await recordPrinter(context, answerView([shown]))
  )(shown);
}

/** Writes items as they come. The first page with any decides which columns a table has. */
export async function printItems(
  context: Context,
  batches: AsyncIterable<readonly unknown[]>,
): Promise<void> {
  const shown = shownBatches(context, batches);
  const first = await shown.next();
  const sample = first.done === true ? [] : first.value;
  if (sample.length === 0) context.notices.note('the list is empty');
  // Without an item nothing tells the columns, and so there is no heading either.
  if (sample.length === 0 && isTabular(context)) return;
  const print = await listPrinter(context, answerView(sample));
  await print(resumed(sample, shown));
}

async function* shownBatches(
  context: Context,
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[], undefined> {
  const row = isTabular(context) ? asRow : (item: unknown): unknown => item;
  for await (const batch of batches) {
    if (batch.length > 0) yield batch.map((item) => row(shownItem(context, item)));
  }
  return undefined;
}

async function* resumed<T>(
  first: readonly T[],
  rest: AsyncGenerator<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  if (first.length > 0) yield first;
  yield* rest;
}

function shownFrom({ globals }: Context, { json, text }: JsonBody): unknown {
  return globals.showUrls ? exactItem(json, sourceFrom(text)) : withoutAddresses(text);
}

function shownItem({ globals }: Context, item: unknown): unknown {
  const source = sourceOf(item);
  return source === undefined || globals.showUrls ? item : withoutAddresses(source.text);
}

function isTabular(context: Context): boolean {
  return ['table', 'csv'].includes(formatOf(context, 'list'));
}
