import { SvcError } from '../errors.ts';
import { rowText, safeJson } from '../output/formats.ts';
import type { Query } from '../output/jq.ts';
import { cleanText } from '../output/text.ts';
import type { Renderer, RenderOptions } from '../output/view.ts';
import type { Command, Context } from './command.ts';

// More than these are counted, not told one by one.
const MAX_REPORTED_ERRORS = 5;

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
      if (!whole && failed <= MAX_REPORTED_ERRORS) context.notices.warn(`--jq: ${error}`);
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

/** What `--jq` asks for, checked, as `--fields` is, before the command begins. Throws `usage` for what cannot go together. */
export async function openQuery(context: Context, command: Command): Promise<Query | undefined> {
  const { globals, settings, signal } = context;
  const asked = globals.jq === undefined ? (globals.fields === undefined ? undefined : '--fields') : '--jq';
  if (asked !== undefined && command.fields === undefined) {
    throw new SvcError('usage', `${asked} is for commands that print data, and this one prints none`, {
      hint: 'Leave it out.',
    });
  }
  if (globals.jq === undefined) return undefined;
  const { output } = settings;
  if (output.origin.kind === 'flag' && output.value !== 'json' && output.value !== 'jsonl') {
    throw new SvcError('usage', '--jq writes texts and JSON, and --output asks for another form', {
      hint: 'Leave out one of them; with -o json the expression sees a list as one array.',
    });
  }
  const { Query: JqQuery } = await import('../output/jq.ts');
  const query = await JqQuery.open(globals.jq, signal);
  context.onClose(() => query.close());
  return query;
}
