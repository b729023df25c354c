// The export of a cycle: whether the request has its rows, and its request in a private file.

import fs from 'node:fs';
import { prepareExport } from '../prepare/prepare-export.ts';
import { exclusionsFor } from './exclusion-list.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { copyInput, openSpool } from '../request/spool.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { hashFile } from '../../client/transfer/source.ts';

/** An export with its current hash. */
export interface Export {
  readonly path: string;
  readonly sha256: string;
}

/** Hashes the export. Returns undefined if the file does not exist. */
export async function openExport(context: Context, typed: string): Promise<Export | undefined> {
  const path = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  if (!fs.existsSync(path)) return undefined;
  return { path, sha256: await hashFile(path) };
}

/** Tells whether the request has the rows of this export, read with the same options. A deleted export counts as unchanged. */
export function hasExport({ record }: RefreshDirectory, exported: Export | undefined, input: RefreshInput): boolean {
  if (exported === undefined) return true;
  const options = input.options.join('\0');
  return record.exports.some((each) => each.sha256 === exported.sha256 && each.options.join('\0') === options);
}

/** Prepares an export in a private file without adding it to the cycle. Returns the path. */
export async function prepareAside(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<string> {
  const request = await openSpool(context);
  await prepareExport(context, input.export ?? '', {
    names: { request, rejects: input.maxRejects && (await openSpool(context)) },
    how: input.how,
    exclusions: (await exclusionsFor(context, directory, input)).list,
    maxRejects: input.maxRejects,
    force: true,
    path: exported?.path,
    words: input.again,
    refusesImplausible: false,
  });
  return request;
}
