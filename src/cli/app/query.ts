// Applies the `--jq` expression to output.

import { SvcError } from '../../base/errors.ts';
import { rowText, safeJson } from '../output/formats.ts';
import type { Query } from '../output/jq.ts';
import { cleanText, hasRunnerCommand } from '../output/text.ts';
import type { Renderer, RenderOptions } from '../output/view.ts';
import type { Command, Context } from './command.ts';

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

/** Fails when an option chooses the form of data, for a run that writes a file instead. @throws SvcError `usage` */
export function refuseForms({ globals: { output, jq, fields } }: Context, option: string): void {
  const [name] = Object.entries({ '-o': output, '--jq': jq, '--fields': fields }).find(([, typed]) => typed) ?? [];
  if (name !== undefined)
    throw new SvcError('usage', `${name} cannot be used with ${option}, which writes a file`, {
      hint: 'Leave one of them out.',
    });
}

/** A renderer. With `--jq`, its end fails with `expression` if the expression failed on any entry. */
export interface CheckedRenderer<T> extends Renderer<T> {
  check?(): void;
}

// Further errors are only counted.
const MAX_REPORTED_ERRORS = 5;

/** Returns a renderer that applies `--jq`. With `whole` (`-o json`) the expression sees a list as one array. */
export function queryRenderer<T>(
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
    // The expression never gets an incomplete list as an array.
    end: (cut) => (whole && cut !== true ? run([`[${kept.join(',')}]`]) : ''),
    record: (value) => run(texts([value])),
    check: () => {
      if (first === undefined) return;
      const isArray = kept.length > 0 && first.startsWith('Cannot index array');
      throw failure(first, failed, seen, isArray ? ARRAY_HINT : undefined);
    },
  };
}

/** Removes secrets from each cell of a line of @tsv. Tabs within a cell are escaped, so that each tab ends a cell. */
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

const ARRAY_HINT = "With -o json the whole list is one array: begin the expression with '.[] |', or leave -o json out.";

function failure(first: string, failed: number, seen: number, hint?: string): SvcError {
  const where = seen === 1 ? '' : ` on ${failed} of ${seen} entries, first with`;
  return new SvcError('expression', `the expression of --jq failed${where}: ${first}`, {
    hint:
      hint ??
      'The command itself succeeded and the rest of the output was written. Put ? after a part of the expression to skip what it does not fit; to see an entry that jq cannot read, run the command without --jq.',
    facts: { failed, seen },
  });
}
