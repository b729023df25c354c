import type { Page } from '../api/pages.ts';
import type { OutputFormat } from '../config/choices.ts';
import { SvcError } from '../errors.ts';
import { printList, printRecord } from '../output/output.ts';
import type { Renderer, RenderOptions, View } from '../output/view.ts';
import type { Context } from './command.ts';
import { flag, type Input, value } from './parameter.ts';
import { integer, text } from './values.ts';

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
    if (count > 0 && context.out.isTerminal) context.notices.setApart();
    if (renderer.dropped.length > 0) {
      context.notices.note(
        `hidden columns: ${renderer.dropped.join(', ')} (use --wide, --fields or a wider terminal)`,
      );
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
    if (context.out.isTerminal) context.notices.setApart();
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
    width: out.isTerminal && !globals.wide ? out.width : undefined,
    plain: context.plain,
    marks: context.marks,
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

/** The options of every list in the cursor style. */
export const PAGING_PARAMETERS = {
  limit: value('-n, --limit <n>', 'stop after this many', integer(1)),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'go on from a cursor that an earlier run gave', text),
  pageSize: value('--page-size <n>', 'how many to ask for at once, 1 to 100', integer(1, 100)),
} as const;

/** What was given of {@link PAGING_PARAMETERS}. */
export type PagingInput = Input<typeof PAGING_PARAMETERS>;

/** What has become of a list so far. */
export interface ListProgress {
  read: number;
  shown: number;
  /** Whether items are left that were not shown. */
  more: boolean;
  /** The cursor that goes on exactly behind the last item shown, where there is one. */
  next: string | undefined;
}

/** A list of which nothing has been read. */
export function newListProgress(): ListProgress {
  return { read: 0, shown: 0, more: false, next: undefined };
}

/** Refuses options that contradict each other, before anything is asked of the service. */
export function checkPaging(input: PagingInput): void {
  if (input.limit === undefined || !input.all) return;
  throw new SvcError('usage', '--limit and --all exclude each other', { hint: 'Give one of them.' });
}

/** How many to ask for at once. `filtered`: items are also dropped here, so that few of a page may be shown. */
export function pageSizeFor(input: PagingInput, filtered = false): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || filtered) return 100;
  // Equal pages that end at the limit, so that the next cursor goes on just behind it.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

/** The items that are wanted, page by page: the first page only, or up to the limit, or all. Counts into `seen`. */
export async function* wanted<T>(
  pages: AsyncIterable<Page<T>>,
  input: PagingInput,
  seen: ListProgress,
  keep: (item: T) => boolean = () => true,
): AsyncGenerator<readonly T[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    const kept = page.items.filter(keep);
    const batch = limit === undefined ? kept : kept.slice(0, limit - seen.shown);
    seen.read += page.items.length;
    seen.shown += batch.length;
    seen.more = page.next !== undefined || batch.length < kept.length;
    // The cursor of a page that was shown in part would skip the rest of it.
    seen.next = batch.length < kept.length ? undefined : page.next;
    yield batch;
    if (limit === undefined || seen.shown >= limit) return;
  }
}

/** Says on stderr what an empty list means, and how to go on where more is left. */
export function reportRest({ notices }: Context, seen: ListProgress, nothing: string): void {
  if (seen.shown === 0) notices.note(nothing);
  if (!seen.more) return;
  if (seen.next === undefined) return notices.note('more results: use --all or a larger --limit');
  notices.note('more results: use --all, or for the next page');
  notices.command(`--start '${seen.next}'`);
}

// Only the chosen format's code is loaded.
const MAKERS = {
  table: async () => (await import('../output/table.ts')).tableRenderer,
  json: async () => (await import('../output/formats.ts')).jsonRenderer,
  jsonl: async () => (await import('../output/formats.ts')).jsonLinesRenderer,
  csv: async () => (await import('../output/csv.ts')).csvRenderer,
  yaml: async () => (await import('../output/yaml.ts')).yamlRenderer,
};

/** The renderer for a format. Throws `usage` for an unknown field. */
export async function createRenderer<T>(
  format: OutputFormat,
  options: RenderOptions<T>,
): Promise<Renderer<T>> {
  const make = await MAKERS[format]();
  return make(options);
}
