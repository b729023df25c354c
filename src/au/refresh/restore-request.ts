// Restores the missing request of a cycle.

import { standingClaims } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { type Export, prepareAside } from './cycle-export.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { openSpool } from '../request/spool.ts';
import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashFile, hashIfReadable } from '../../client/transfer/source.ts';

/** Restores a missing request from the sent rows or the export. @throws SvcError `local` if neither gives the same file */
export async function restoreRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<string> {
  const { request } = directory;
  const isSame = async (path: string): Promise<boolean> => directory.isOwn(request, await hashFile(path));
  const sent = await sentRows(context, directory);
  if (sent !== undefined && (await isSame(sent))) {
    context.notices.note(`${request} was restored from the rows that this machine sent`);
    return sent;
  }
  const prepared = exported && (await prepareAside(context, directory, input, exported));
  if (prepared !== undefined && (await isSame(prepared))) {
    context.notices.note(`${request} was restored from ${input.export}`);
    return prepared;
  }
  if (exported !== undefined)
    throw lostRequest(request, input, `${request} is gone, and ${input.export} does not give the same file now`);
  if (sent !== undefined)
    throw lostRequest(
      request,
      input,
      `${request} is gone, and the rows that this machine sent do not give the same file`,
    );
  throw lostRequest(request, input);
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

/** Returns the error for a request that is missing or changed and that nothing restores. */
function lostRequest(
  file: string,
  { cycle, export: typed }: RefreshInput,
  message = `${file} is not as it was prepared, and this machine keeps no copy of it`,
): SvcError {
  return new SvcError('local', message, {
    hint: `The files of the cycle were left as they are. Put the file back from a copy${typed === undefined ? ', or bring back the export' : ''}, and run the same command again. To get the results alone:`,
    next: ['au', 'resume', cycle, '--wait'],
    facts: { file },
  });
}
