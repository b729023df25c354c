import { SvcError } from '../errors.ts';
import { cleanText } from '../render/clean.ts';
import type { RenderOptions, Renderer } from '../render/format.ts';
import { rowText } from '../render/json.ts';
import { safeJson } from '../render/safe-json.ts';
import type { Query } from '../query/query.ts';
import type { Context } from './context.ts';

// More than these are counted, not told one by one.
const ERRORS_TOLD = 5;

/** A renderer that puts everything through `--jq`, and what it found wrong, which is to be thrown at the end. */
export interface QueryRenderer<T> extends Renderer<T> {
  /** Throws `expression` when the expression failed on an entry. */
  check(): void;
}

/** `whole`: the expression sees a list as one array, as `-o json` writes it; else each entry by itself. */
export function queryRenderer<T>(
  context: Context,
  query: Query,
  options: RenderOptions<T>,
  whole: boolean,
): QueryRenderer<T> {
  const text = rowText(options);
  const texts = (batch: readonly T[]): string[] => batch.map((row) => text(row));
  const kept: string[] = [];
  let [seen, failed] = [0, 0];
  let first: string | undefined;
  const run = async (entries: readonly string[]): Promise<string> => {
    if (entries.length === 0) return '';
    const { outputs, errors, notes } = await query.run(entries);
    if (notes !== '') context.notices.note(notes);
    for (const error of errors) {
      first ??= error;
      failed += 1;
      if (!whole && failed <= ERRORS_TOLD) context.notices.warn(`--jq: ${error}`);
    }
    seen += entries.length;
    return outputs.map((output) => `${shown(output, context.out.isTerminal)}\n`).join('');
  };
  return {
    begin: () => '',
    rows: async (batch) => {
      if (!whole) return run(texts(batch));
      kept.push(...texts(batch));
      return '';
    },
    // What is known of a list that broke off is no list.
    end: (cut) => (whole && cut !== true ? run([`[${kept.join(',')}]`]) : ''),
    record: (value) => run(texts([value])),
    dropped: [],
    check: () => {
      if (first !== undefined) throw failure(first, failed, seen);
    },
  };
}

/** A text as it is, as `jq -r` and gh have it; anything else as JSON on one line. */
function shown(json: string, isTerminal: boolean): string {
  if (!json.startsWith('"')) return safeJson(json);
  const text = JSON.parse(json) as string;
  return isTerminal ? cleanText(text, 'keep') : text;
}

function failure(first: string, failed: number, seen: number): SvcError {
  const where = seen === 1 ? '' : ` on ${failed} of ${seen} entries, first with`;
  return new SvcError('expression', `the expression of --jq failed${where}: ${first}`, {
    hint: 'What the command itself does is done, and the other output was written. A ? after a part of an expression leaves out what it does not fit.',
    facts: { failed, seen },
  });
}
