import type { Page } from '../api/pages.ts';
import type { OutputFormat } from '../output-format.ts';
import type { Renderer } from '../render/format.ts';
import { createRenderer } from '../render/renderer.ts';
import type { View } from '../render/view.ts';
import { printList, printRecord } from '../terminal/print.ts';
import type { Context } from './context.ts';

/** The format in effect: as chosen, else a table on a terminal, and for programs the form that suits the data. */
export function formatOf(context: Context, data: 'list' | 'record'): OutputFormat {
  const chosen = context.settings.output.value;
  if (context.query) return data === 'record' || chosen === 'json' ? 'json' : 'jsonl';
  if (chosen) return chosen;
  if (context.out.isTerminal) return 'table';
  return data === 'list' ? 'jsonl' : 'json';
}

/** Whether stdout is read by a person, who likes a mark or a picture beside the data. */
export function isForPeople(context: Context): boolean {
  return formatOf(context, 'record') === 'table';
}

/** Checks `--fields` and `--jq` before anything is asked of the service, then gives the function that writes a list. */
export async function listPrinter<T>(context: Context, view: View<T>): Promise<ListPrinter<T>> {
  const { renderer, check } = await rendererFor(context, view, 'list');
  return async (batches) => {
    const count = await printList(context.out, renderer, batches);
    if (renderer.dropped.length > 0) {
      context.notices.note(`not shown for lack of room: ${renderer.dropped.join(', ')} (--fields chooses)`);
    }
    check();
    return count;
  };
}

/** Writes batches as they come and resolves to the number of rows. */
export type ListPrinter<T> = (batches: AsyncIterable<readonly T[]>) => Promise<number>;

/** Checks `--fields` and `--jq` before anything is asked of the service, then gives the function that writes one object. */
export async function recordPrinter<T>(
  context: Context,
  view: View<T>,
): Promise<(value: T) => Promise<void>> {
  const { renderer, check } = await rendererFor(context, view, 'record');
  return async (value) => {
    await printRecord(context.out, renderer, value);
    check();
  };
}

/** The items of pages, page by page. */
export async function* batches<T>(pages: AsyncIterable<Page<T>>): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.items;
}

/** A list that is whole already, as batches. */
export async function* once<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** A renderer, and what is to be called when it has done its work. */
interface Chosen<T> {
  readonly renderer: Renderer<T>;
  readonly check: () => void;
}

async function rendererFor<T>(context: Context, view: View<T>, data: 'list' | 'record'): Promise<Chosen<T>> {
  const { settings, globals, out, clock } = context;
  const format = formatOf(context, data);
  const options = {
    view,
    fields: globals.fields,
    time: settings.time.value ?? (out.isTerminal ? 'local' : 'utc'),
    now: () => clock.now(),
    width: out.isTerminal ? out.width : undefined,
    plain: context.plain,
    palette: format === 'table' ? context.palette : undefined,
    showUrls: globals.showUrls,
    excelSafe: globals.excelSafe,
    redact: (text: string) => out.redact(text),
  };
  if (!context.query) return { renderer: await createRenderer(format, options), check: () => undefined };
  const { queryRenderer } = await import('./query-renderer.ts');
  const renderer = queryRenderer(context, context.query, options, format === 'json');
  return { renderer, check: () => renderer.check() };
}
