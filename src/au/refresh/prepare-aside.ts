import type { Context } from '../../cli/app/command.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { openSpool } from '../request/spool-output.ts';
import { exclusionsFor } from './exclusion-list.ts';
import type { Export } from './export.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';

/**
 * Makes the request of an export in a private file that is removed at the end of the command, and returns its path. It is
 * judged as a whole only where its rows would be sent.
 */
export async function prepareAside(
  context: Context,
  directory: RefreshDirectory,
  typed: string,
  exported: Export | undefined,
  input: RefreshInput,
  isJudged = false,
): Promise<string> {
  const path = await openSpool(context);
  await prepareExport(context, typed, {
    how: input.how,
    maxRejects: input.maxRejects,
    exclusions: (await exclusionsFor(context, directory, input)).list,
    names: { request: path, rejects: input.maxRejects && (await openSpool(context)) },
    path: exported?.path,
    force: true,
    words: input.again,
    isJudged,
  });
  return path;
}
