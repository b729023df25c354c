// Restores the missing request of a cycle.

import { standingClaims } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { openSpool } from '../request/spool.ts';
import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashFile, hashIfReadable } from '../../client/transfer/source.ts';

/** Restores a missing request from the rows that this machine sent. Returns undefined if they do not give the same file. */
export async function sentRequest(context: Context, directory: RefreshDirectory): Promise<string | undefined> {
  const { request } = directory;
  const sent = await sentRows(context, directory);
  if (sent === undefined || !directory.isOwn(request, await hashFile(sent))) return undefined;
  context.notices.note(`${request} was restored from the rows that this machine sent`);
  return sent;
}

/** Returns a private file with the rows that this machine sent in the cycle; undefined without any. */
async function sentRows(context: Context, directory: RefreshDirectory): Promise<string | undefined> {
  const { tenant } = directory;
  if (tenant === undefined) return undefined;
  const ledger = new CommandLedger(context, { onlyReads: true });
  const entries = await (await ledger.open(tenant)).cycle(directory.cycle).read();
  const files: string[] = [];
  for (const { job, sha256 } of standingClaims(entries)) {
    const { request } = ledger.jobFiles(job);
    if ((await hashIfReadable(request)) === sha256) files.push(request);
  }
  if (files.length === 0) return undefined;
  const path = await openSpool(context);
  await writeWhole(path, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const file of files)
      for await (const rows of readRequest((await fileSource(file)).open()))
        await draft.write(rows.map(({ line }) => `${line}\n`).join(''));
  });
  return path;
}

/** Returns the error for a request that is not as it was prepared. */
export function lostRequest(file: string, { cycle }: RefreshInput, message: string): SvcError {
  return new SvcError('local', message, {
    hint: 'The files of the cycle were left as they are. Put the file back from a copy, or name the export that it was made of, and run the command again. To get the results alone:',
    next: ['au', 'resume', cycle, '--wait'],
    facts: { file },
  });
}
