import type { Command } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { SvcError } from '../errors.ts';
import type { Query } from '../query/query.ts';

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
  const { Query: JqQuery } = await import('../query/query.ts');
  const query = await JqQuery.open(globals.jq, signal);
  context.onClose(() => query.close());
  return query;
}
