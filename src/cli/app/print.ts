import { SvcError } from '../../base/errors.ts';
import { maskCardNumbers } from '../../base/security/card-number.ts';
import type { Page } from '../../client/api/pages.ts';
import { DEFAULT_ORIGIN, type OutputFormat } from '../config/values.ts';
import { jsonLinesRenderer, jsonRenderer, rowText, safeJson } from '../output/formats.ts';
import type { Query } from '../output/jq.ts';
import { printList, printRecord } from '../output/output.ts';
import { cleanText, hasRunnerCommand } from '../output/text.ts';
import type { Renderer, RenderOptions, View } from '../output/view.ts';
import type { Command, Context } from './command.ts';
import { typedCommand } from './hint.ts';
import type { PagingInput } from './paging.ts';

/** Returns the format in effect: the chosen one, a table on a terminal, or JSON for programs. */
export function formatOf(context: Context, data: 'list' | 'record'): OutputFormat {
  const chosen = context.settings.output.value;
  if (context.query) return data === 'record' || chosen === 'json' ? 'json' : 'jsonl';
  if (chosen) return chosen;
  if (context.out.isTerminal) return 'table';
  return data === 'list' ? 'jsonl' : 'json';
}

/** Returns a context that prints this format on a terminal too, unless another one is chosen. */
export function withDefaultFormat(context: Context, value: OutputFormat): Context {
  const { settings, out } = context;
  if (settings.output.value !== undefined || !out.isTerminal) return context;
  return { ...context, settings: { ...settings, output: { value, origin: DEFAULT_ORIGIN } } };
}

/** Tells whether a person reads stdout, so that marks and drawings may accompany the data. */
export function isForPeople(context: Context): boolean {
  return context.collect === undefined && formatOf(context, 'record') === 'table';
}

/** Tells whether output may be a drawing or sentences: a person reads it and chose no fields. */
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

/** Checks `--fields` and `--jq`, and returns the function that writes one object. `usual` is its default format. */
export async function recordPrinter<T>(context: Context, view: View<T>, usual?: OutputFormat) {
  const take = await context.collect?.(view as View);
  if (take) return async (value: T): Promise<void> => take(value);
  const isAsked = context.query !== undefined || context.settings.output.origin.kind === 'flag';
  const renderer = await rendererFor(context, view, 'record', isAsked ? undefined : usual);
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

/** Returns how a table shows the values of a view to people. */
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

const MOST_NAMED = 10;

/** Names the members of a list that have no column, and how to get them. The service chose these names. */
function leftOutText(paths: readonly string[]): string {
  const named = paths.slice(0, MOST_NAMED).map((path) => maskCardNumbers(path));
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

/** Returns the number of items per request. `filtered` means that a page may contain few items to show. */
export function pageSizeFor(input: PagingInput, filtered = false): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || filtered) return 100;
  // Equal pages end exactly at the limit, so that the next cursor points just after the last item shown.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

/**
 * Yields items page by page: the first page, up to the limit, or all; stops after `mostRead` items
 * were read. Counts in `seen`.
 */
export async function* limitedPages<T>(
  pages: AsyncIterable<Page<T>>,
  input: { readonly limit: number | undefined; readonly all?: boolean; readonly mostRead?: number },
  seen: ListProgress,
  keep: (item: T) => boolean = () => true,
): AsyncGenerator<readonly T[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    const { batch, isLast } = takePage(page, { limit, mostRead: input.mostRead }, seen, keep);
    yield batch;
    if (isLast) return;
  }
}

/** Takes the wanted items from a page, and counts them in `seen`. Without a limit, the first page with items is the last. */
export function takePage<T>(
  { items, next }: Page<T>,
  { limit, mostRead = Infinity }: { readonly limit: number | undefined; readonly mostRead?: number | undefined },
  seen: ListProgress,
  keep: (item: T) => boolean,
): { readonly batch: readonly T[]; readonly isLast: boolean } {
  const kept = items.filter(keep);
  const batch = limit === undefined ? kept : kept.slice(0, limit - seen.shown);
  seen.read += items.length;
  seen.shown += batch.length;
  seen.more = next !== undefined || batch.length < kept.length;
  // The cursor of a page that was shown only in part would skip the remaining items.
  seen.next = batch.length < kept.length ? undefined : next;
  const isEnough = limit === undefined ? items.length > 0 : seen.shown >= limit;
  return { batch, isLast: isEnough || seen.read >= mostRead };
}

/** Reports on stderr that a list is empty, or the command for its next items, unless `limit` ended it. */
export function reportRest(
  context: Context,
  seen: ListProgress,
  { nothing, limit = Infinity, wordsFrom }: RestOfList,
): void {
  const { notices, out } = context;
  if (seen.shown === 0) notices.note(nothing);
  if (!seen.more || seen.shown >= limit) return;
  // On a terminal a cursor would fill two lines.
  if (seen.next === undefined || out.isTerminal) return notices.note('more results: use --all or a larger --limit');
  notices.commandAfter('more results', typedCommand(wordsFrom(seen.next), context.globals, context.system));
}

interface RestOfList {
  /** What to say of an empty list. */
  readonly nothing: string;
  /** The number of items that the operator requested. */
  readonly limit: number | undefined;
  /** Returns the command that continues at a cursor. */
  readonly wordsFrom: (start: string) => readonly string[];
}

/** A renderer. With `--jq`, its end fails with `expression` if the expression failed on any entry. */
export interface CheckedRenderer<T> extends Renderer<T> {
  check?(): void;
}

// Further errors are counted but not reported one by one.
const MAX_REPORTED_ERRORS = 5;

/** Returns a renderer that applies `--jq`. With `whole` (`-o json`) the expression sees a list as one array. */
function queryRenderer<T>(
  context: Context,
  query: Query,
  options: RenderOptions<T>,
  whole: boolean,
): CheckedRenderer<T> {
  const text = rowText(options);
  const texts = (batch: readonly T[]): string[] => batch.map((row) => text(row));
  const kept: string[] = [];
  const isTsv = /@tsv\b/.test(context.globals.jq ?? '');
  let seen = 0;
  let failed = 0;
  let first: string | undefined;
  const run = async (entries: readonly string[]): Promise<string> => {
    if (entries.length === 0) return '';
    const { outputs, errors, notes } = await query.run(entries);
    if (notes !== '') context.notices.note(notes);
    for (const error of errors) {
      first ??= error;
      failed += 1;
      if (!whole && failed <= MAX_REPORTED_ERRORS) context.notices.warn(`--jq: ${error}`);
    }
    seen += entries.length;
    const lines = outputs.map((output) => shown(output, context.out.isTerminal, options.runnerReads));
    return lines.map((line) => `${isTsv ? redactCells(line, options) : line}\n`).join('');
  };
  return {
    isRedacted: isTsv,
    rows: async (batch) => {
      if (!whole) return run(texts(batch));
      kept.push(...texts(batch));
      return '';
    },
    // A list that broke off is incomplete, so the expression never gets it as an array.
    end: (cut) => (whole && cut !== true ? run([`[${kept.join(',')}]`]) : ''),
    record: (value) => run(texts([value])),
    check: () => {
      if (first !== undefined) throw failure(first, failed, seen);
    },
  };
}

/** Removes secrets from each cell of a line of @tsv, which writes a tab within a cell as an escape. */
function redactCells<T>(line: string, { redact }: RenderOptions<T>): string {
  const cells = line.split('\t');
  return cells.map((cell) => redact?.(cell) ?? cell).join('\t');
}

/**
 * Returns a string without quotes, as `jq -r` does, and anything else as JSON on one line. A string that GitHub's runner
 * would take for a command stays JSON.
 */
function shown(json: string, isTerminal: boolean, runnerReads = false): string {
  if (!json.startsWith('"')) return safeJson(json);
  const text = JSON.parse(json) as string;
  if (runnerReads && hasRunnerCommand(text)) return safeJson(json);
  return isTerminal ? cleanText(text, 'keep') : text;
}

function failure(first: string, failed: number, seen: number): SvcError {
  const where = seen === 1 ? '' : ` on ${failed} of ${seen} entries, first with`;
  return new SvcError('expression', `the expression of --jq failed${where}: ${first}`, {
    hint: 'The command itself succeeded and the rest of the output was written. Put ? after a part of the expression to skip what it does not fit; to see an entry that jq cannot read, run the command without --jq.',
    facts: { failed, seen },
  });
}

/** Compiles the `--jq` expression before the command begins. @throws SvcError `usage` for an invalid one */
export async function openQuery(context: Context, command: Command): Promise<Query | undefined> {
  const { globals, settings, signal } = context;
  if (command.fields === undefined) refuseOutputOptions(globals);
  if (globals.jq === undefined) return undefined;
  const { output } = settings;
  if (output.origin.kind === 'flag' && output.value !== 'json' && output.value !== 'jsonl') {
    throw new SvcError('usage', `--jq cannot be combined with -o ${output.value ?? ''}`, {
      hint: 'Leave one of them out; with -o json the expression sees a list as one array.',
    });
  }
  const { Query: JqQuery } = await import('../output/jq.ts');
  const query = await JqQuery.open(globals.jq, signal);
  context.onClose(() => query.close());
  return query;
}

/** Fails when `--jq` or `--fields` was typed, for a command that prints no data. */
function refuseOutputOptions({ jq, fields }: Context['globals']): void {
  if (jq === undefined && fields === undefined) return;
  const option = jq === undefined ? '--fields' : '--jq';
  throw new SvcError('usage', `${option} is for commands that print data; this one prints none`, {
    hint: 'Leave it out.',
  });
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
