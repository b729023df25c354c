import fs from 'node:fs';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { hashFile } from '../../client/transfer/source.ts';
import { copyInput } from '../request/open-request-file.ts';

/** An export as it is now. */
export interface Export {
  readonly path: string;
  readonly sha256: string;
}

/** Reads the export. Returns undefined if there is no such file. */
export async function openExport(context: Context, typed: string): Promise<Export | undefined> {
  const path = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  if (!fs.existsSync(path)) return undefined;
  return { path, sha256: await hashFile(path) };
}
