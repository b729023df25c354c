// Prints lists and records in the chosen format, and pages of a list up to a limit.

import { maskCardNumbers } from '../../base/security/card-number.ts';
import type { Page } from '../../client/api/pages.ts';
import { DEFAULT_ORIGIN } from '../config/origin.ts';
import type { OutputFormat } from '../config/values.ts';
import { jsonLinesRenderer, jsonRenderer } from '../output/formats.ts';
import { printList, printRecord } from '../output/output.ts';
import type { Renderer, RenderOptions, View } from '../output/view.ts';
import type { Context } from './command.ts';
import { typedCommand } from './hint.ts';
import type { PagingInput } from './paging.ts';
import { type CheckedRenderer, queryRenderer } from './query.ts';

/** Returns the format in effect: the chosen one, a table on a terminal, or JSON for programs. */
export function formatOf(context: Context, data: 'list' | 'record'): OutputFormat {
  const chosen = context.settings.output.value;
  if (context.query) return data === 'record' || chosen === 'json' ? 'json' : 'jsonl';
  if (chosen) return chosen;
  if (context.out.isTerminal) return 'table';
  return data === 'list' ? 'jsonl' : 'json';
}

/** Returns a context in which `value` is also the default format on a terminal. */
export function withDefaultFormat(context: Context, value: OutputFormat): Context {
  const { settings, out } = context;
  if (settings.output.value !== undefined || !out.isTerminal) return context;
  return { ...context, settings: { ...settings, output: { value, origin: DEFAULT_ORIGIN } } };
}

/** Tells whether a person reads the output, so that marks and drawings may accompany the data. */
export function isForPeople(context: Context): boolean {
  return context.collect === undefined && formatOf(context, 'record') === 'table';
}

/** Tells whether output may be a drawing or sentences: a person reads the output and chose no fields. */
export function isDrawn(context: Context): boolean {
  return isForPeople(context) && context.globals.fields === undefined;
}

/** Checks `--fields` and `--jq` before any request, and returns the function that writes a list. */
export async function listPrinter<T>(context: Context, view: View<T>): Promise<ListPrinter<T>> {
  const take = await context.collect?.(view as View);
  if (take)
    return async (batches) => {
      let count = 0;
      for await (const batch of batches) {
        for (const row of batch) take(row);
        count += batch.length;
      }
      return count;
    };
  const renderer = await rendererFor(context, view, 'list');
  return async (batches) => {
    const count = await printList(context.out, renderer, batches);
    if (count > 0 && context.out.isTerminal) context.notices.setApart();
    renderer.check?.();
    return count;
  };
}

/** Writes batches as they arrive and resolves to the number of rows. */
export type ListPrinter<T> = (batches: AsyncIterable<readonly T[]>) => Promise<number>;

/** Checks `--fields` and `--jq`, and returns the function that writes one object. */
export async function recordPrinter<T>(context: Context, view: View<T>, defaultFormat?: OutputFormat) {
  const take = await context.collect?.(view as View);
  if (take) return async (value: T): Promise<void> => take(value);
  const isChosen = context.query !== undefined || context.settings.output.origin.kind === 'flag';
  const renderer = await rendererFor(context, view, 'record', isChosen ? undefined : defaultFormat);
  return async (value: T): Promise<void> => {
    await printRecord(context.out, renderer, value);
    if (context.out.isTerminal) context.notices.setApart();
    renderer.check?.();
  };
}

export async function* batches<T>(pages: AsyncIterable<Page<T>>): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.items;
}

export async function* oneBatch<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** Returns the renderer of a view for the format in effect. @throws SvcError `usage` for an unknown field */
async function rendererFor<T>(
  context: Context,
  view: View<T>,
  data: 'list' | 'record',
  format = formatOf(context, data),
): Promise<CheckedRenderer<T>> {
  const options = {
    ...renderOptions(context, view),
    fields: context.globals.fields,
    palette: format === 'table' ? context.palette : undefined,
    excelSafe: context.globals.excelSafe,
    runnerReads: context.system.env['GITHUB_ACTIONS'] === 'true',
    onLeftOut: (paths: readonly string[]) => context.notices.note(leftOutText(paths)),
  };
  if (format !== 'table') context.out.bypassPager();
  if (context.query) return queryRenderer(context, context.query, options, format === 'json');
  return createRenderer(format, options);
}

/** Returns the options for rendering a view as a table. */
export function renderOptions<T>(context: Context, view: View<T>): RenderOptions<T> {
  const { settings, globals, out, clock, plain, marks, palette } = context;
  return {
    view,
    time: settings.time.value ?? (out.isTerminal ? 'local' : 'utc'),
    now: () => clock.now(),
    width: out.isTerminal && !globals.wide ? out.width : undefined,
    plain,
    marks,
    palette,
    showUrls: globals.showUrls,
    redact: (text) => out.redact(text),
  };
}

const MAX_NAMED_MEMBERS = 10;

/** Names the members of a list without a column, and how to print them. The service may have added these members. */
function leftOutText(paths: readonly string[]): string {
  const named = paths.slice(0, MAX_NAMED_MEMBERS).map((path) => maskCardNumbers(path));
  const more = paths.length > named.length ? ' and others' : '';
  return `left out, as no column is known for them: ${named.join(', ')}${more} (use -o jsonl, or --fields with +name)`;
}

export interface ListProgress {
  read: number;
  shown: number;
  /** Whether some items were not shown. */
  more: boolean;
  /** The cursor that resumes exactly after the last item shown, if any. */
  next: string | undefined;
}

export function newListProgress(): ListProgress {
  return { read: 0, shown: 0, more: false, next: undefined };
}

/** Returns the number of items per request. With `filtered`, only few items of a page may match. */
export function pageSizeFor(input: PagingInput, filtered = false): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || filtered) return 100;
  // Equal pages end exactly at the limit, so that the next cursor points just after the last item shown.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

/**
 * Yields items page by page: the first page, up to the limit, or all. Stops once `mostRead` items were read. Counts the items
 * in `progress`.
 */
export async function* limitedPages<T>(
  pages: AsyncIterable<Page<T>>,
  input: { readonly limit: number | undefined; readonly all?: boolean; readonly mostRead?: number },
  progress: ListProgress,
  keep: (item: T) => boolean = () => true,
): AsyncGenerator<readonly T[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    const { batch, isLast } = takePage(page, { limit, mostRead: input.mostRead }, progress, keep);
    yield batch;
    if (isLast) return;
  }
}

/** Takes the items to show from a page, and counts them in `progress`. Without a limit, the first page with items is the last. */
export function takePage<T>(
  { items, next }: Page<T>,
  { limit, mostRead = Infinity }: { readonly limit: number | undefined; readonly mostRead?: number | undefined },
  progress: ListProgress,
  keep: (item: T) => boolean,
): { readonly batch: readonly T[]; readonly isLast: boolean } {
  const kept = items.filter(keep);
  const batch = limit === undefined ? kept : kept.slice(0, limit - progress.shown);
  progress.read += items.length;
  progress.shown += batch.length;
  progress.more = next !== undefined || batch.length < kept.length;
  // The cursor of a page that was shown only in part would skip the remaining items.
  progress.next = batch.length < kept.length ? undefined : next;
  const isEnough = limit === undefined ? items.length > 0 : progress.shown >= limit;
  return { batch, isLast: isEnough || progress.read >= mostRead };
}

/** Reports on stderr that a list is empty, or how to get the rest of a list that was cut before `limit` items. */
export function reportRest(
  context: Context,
  progress: ListProgress,
  { nothing, limit = Infinity, wordsFrom }: RestOfList,
): void {
  const { notices, out } = context;
  if (progress.shown === 0) notices.note(nothing);
  if (!progress.more || progress.shown >= limit) return;
  // On a terminal a cursor would fill two lines.
  if (progress.next === undefined || out.isTerminal) return notices.note('more results: use --all or a larger --limit');
  notices.commandAfter('more results', typedCommand(wordsFrom(progress.next), context.globals, context.system));
}

interface RestOfList {
  /** The note for an empty list. */
  readonly nothing: string;
  /** The number of items that the operator requested. */
  readonly limit: number | undefined;
  /** Returns the command that continues at a cursor. */
  readonly wordsFrom: (start: string) => readonly string[];
}

// Only the chosen format's code is loaded.
const MAKERS = {
  table: async () => (await import('../output/table.ts')).tableRenderer,
  json: () => jsonRenderer,
  jsonl: () => jsonLinesRenderer,
  csv: async () => (await import('../output/csv.ts')).csvRenderer,
  yaml: async () => (await import('../output/yaml.ts')).yamlRenderer,
};

/** Returns the renderer for a format. Throws `usage` for an unknown field. */
export async function createRenderer<T>(format: OutputFormat, options: RenderOptions<T>): Promise<Renderer<T>> {
  const make = await MAKERS[format]();
  return make(options);
}
