// Prints lists and records in the chosen format.

import { maskCardNumbers } from '../../base/security/card-number.ts';
import type { Page } from '../../client/api/pages.ts';
import { DEFAULT_ORIGIN } from '../config/origin.ts';
import type { OutputFormat } from '../config/values.ts';
import { jsonLinesRenderer, jsonRenderer } from '../output/formats.ts';
import { printList, printRecord } from '../output/output.ts';
import type { Renderer, RenderOptions, View } from '../output/view.ts';
import type { Context } from './command.ts';
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
