import { shellWords } from '../../cli/app/hint.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { formWords, readExportWords, withEarlierOptions } from '../prepare/prepare-options.ts';
import { formOf } from '../prepare/prepare.ts';
import type { Export } from './export.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';

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
