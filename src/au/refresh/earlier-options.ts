import { shellWords } from '../../cli/app/hint.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { formWords, readExportWords, withEarlierOptions } from '../prepare/prepare-options.ts';
import { formOf } from '../prepare/prepare.ts';
import type { Export } from './export.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import type { SqlDialect } from './update-sql.ts';

/**
 * Adds how the operator had the newest export of the same form read: the answers to questions, and options that this command
 * does not name. An export with another header is not read so.
 */
export async function withOptionsOfEarlier(
  context: Context,
  directory: RefreshDirectory,
  exported: Export | undefined,
  input: RefreshInput,
): Promise<RefreshInput> {
  if (exported === undefined) return input;
  for (const { cycle, request } of directory.requestsOfCycles()) {
    if (request.form === undefined) continue;
    const earlier = readExportWords(request.options);
    if ((await formOf((await fileSource(exported.path)).open(), earlier)) !== request.form) continue;
    const how = withEarlierOptions(input.how, earlier);
    const options = formWords(how);
    if (options.join('\0') !== input.options.join('\0'))
      context.notices.note(`read as in cycle ${cycle}: ${shellWords(options, context.system)}`);
    return { ...input, how, options };
  }
  return input;
}

/** Returns the database of this command, else that of the last one, and records it so that no later command writes another. */
export function sqlFor(context: Context, directory: RefreshDirectory, typed: SqlDialect | undefined): SqlDialect {
  const { steps, earlierSql } = directory;
  const sql = typed ?? earlierSql?.sql ?? 'postgres';
  if (typed === undefined && earlierSql !== undefined && sql !== 'postgres')
    context.notices.note(`update.sql is for ${sql}, as in cycle ${earlierSql.cycle}`);
  if (steps.sql === sql) return sql;
  steps.sql = sql;
  directory.save();
  return sql;
}
