// Finds the rows of a changed export whose expiration is another than the one that was sent, which the cycle does not send again.

import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { countText } from '../../cli/output/number.ts';
import { writeWhole } from '../../base/files/draft.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { noteFixCommand } from '../jobs/fix-file.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { cellsOf, type RequestRow, readRequest, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { openSpool } from '../request/spool.ts';
import { TokenTable } from '../request/token-table.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { TokenRows } from '../results/rows-of-request.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { usualParent } from './rehearsal.ts';

/**
 * Notes how many rows of an export, prepared in a private file, have another expiration than in the request of the cycle. Those
 * whose result is an error are written to a file of their own, with the command that sends only these.
 */
export async function reportCorrectedRows(
  context: Context,
  directory: RefreshDirectory,
  { export: typed = '', cycle, dryRun }: RefreshInput,
  { request, prepared }: { readonly request: string; readonly prepared: string },
): Promise<void> {
  const { corrected } = directory;
  const spool = await openSpool(context);
  const { changed, errors } = await writeCorrectedRows(
    { request, prepared, results: await ownResults(directory) },
    spool,
  );
  if (changed > 0) {
    const other = changed === 1 ? 'has another expiration' : 'have other expirations';
    context.notices.note(
      `${countText(changed, 'row')} of ${typed} ${other} than in ${directory.request}, which stays as it is: a row is sent once in a cycle`,
    );
  }
  if (dryRun) return;
  const edited = await directory.put([[corrected, errors > 0 ? spool : undefined]]);
  directory.save();
  const { tenant } = directory;
  if (errors === 0 || tenant === undefined) return;
  const { isRehearsal } = context;
  const outDir = directory.parent === usualParent(context) ? undefined : directory.parent;
  const rows = countText(errors, 'row');
  if (edited.length > 0)
    return context.notices.warn(
      `${corrected} was changed after the refresh wrote it, and stays as it is: move it away, and the same command writes ${rows} whose result is an error there`,
    );
  context.notices.note(`${corrected} has ${rows} of them, whose result is an error`);
  await noteFixCommand(context, {
    rows,
    words: ['au', 'refresh', corrected, ...option('--out-dir', outDir), ...(isRehearsal ? ['--rehearse'] : [])],
    file: { name: corrected },
    isNamed: true,
    cycle: { name: cycle, tenant },
  });
}

/** Returns the results of the cycle; undefined if they are not there, or somebody changed them. */
async function ownResults(directory: RefreshDirectory): Promise<string | undefined> {
  const { results } = directory;
  return (await directory.isUnchanged(results)) ? directory.resolve(results) : undefined;
}

interface ComparedFiles {
  /** The request of the cycle. */
  readonly request: string;
  /** The request that the export gives now. */
  readonly prepared: string;
  readonly results: string | undefined;
}

/** Writes the changed rows whose result is an error to `target`. Returns the numbers of changed rows and of written ones. */
async function writeCorrectedRows({ request, prepared, results }: ComparedFiles, target: string) {
  const sent = new TokenTable();
  const source = await fileSource(request);
  for await (const rows of readRequest(source.open()))
    for (const row of rows) sent.set(rowKeyOf(row), expirationOf(row));
  const tokens = await TokenRows.of(source);
  const isError = await errorsIn(results);
  const counts = { changed: 0, errors: 0 };
  await writeWhole(target, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for await (const rows of readRequest((await fileSource(prepared)).open()))
      for (const row of rows) {
        const before = sent.get(rowKeyOf(row));
        if (before === 0 || before === expirationOf(row)) continue;
        counts.changed += 1;
        // Results name no merchant, so each row of the token must have an error.
        if (!isError(tokenKey(row.token), tokens.countRows(row.token))) continue;
        counts.errors += 1;
        await draft.write(`${row.line}\n`);
      }
  });
  return counts;
}

/** Returns the expiration of a row as a number other than 0. */
function expirationOf(row: RequestRow): number {
  const [, year = '', month = ''] = cellsOf(row);
  return Number(year) * 100 + Number(month) + 1;
}

/** Returns a function that tells whether each row of a token has an error as its result. */
async function errorsIn(results: string | undefined): Promise<(key: string, rows: number) => boolean> {
  const errors = new TokenTable();
  const others = new TokenTable({ hasValues: false });
  if (results !== undefined)
    for await (const rows of readResults((await fileSource(results)).open()))
      for (const { token, result_code: code } of rows) {
        const key = tokenKey(token);
        if (explainResultCode(code).class === 'error') errors.set(key, errors.get(key) + 1);
        else others.setIfAbsent(key, 1);
      }
  return (key, rows) => errors.get(key) === rows && others.get(key) === 0;
}
