import {
  indexResults,
  nextRequest,
  type NextRow,
  type ResultsByToken,
  resultsInOrder,
} from '../../account-updater/next-request.ts';
import { reconcile, type Rereadable } from '../../account-updater/reconcile.ts';
import { REQUEST_HEADER } from '../../account-updater/request-file.ts';
import { cellsOf } from '../../account-updater/request-lines.ts';
import { type Actions, explainResultCode } from '../../account-updater/result-codes.ts';
import type { Context } from '../../app/command.ts';
import { requireFile, resolvePath } from '../../app/parameter.ts';
import { SvcError } from '../../errors.ts';
import { csvRow } from '../../output/csv.ts';
import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { fileSource } from '../../transfer/source.ts';
import { Draft } from '../../files/draft.ts';
import type { NextRequest } from './next.ts';
import { openRequestFile, type RequestFile } from './request-file.ts';

/** How to make the next request. Paths as typed. */
export interface NextInput {
  readonly request: string;
  readonly results: string;
  /** A file, or - for standard output. */
  readonly out: string;
  readonly dropped: string | undefined;
  readonly actions: Actions;
  readonly force: boolean;
}

/** Something that takes text. */
interface Sheet {
  write(text: string): Promise<void>;
  finish(overwrite: boolean): Promise<unknown>;
  discard(): Promise<void>;
}

/**
 * Writes the next request, and the list of what was dropped.
 * @throws SvcError `checksum_mismatch` when the results answer another request; nothing is written then
 */
export async function makeNextRequest(context: Context, input: NextInput): Promise<NextRequest> {
  const targets = [input.out, input.dropped].filter((name) => name !== undefined && name !== '-');
  for (const target of targets) await requireFile(resolvePath(context, target ?? ''), input.force);
  const asked = await openRequestFile(context, resolvePath(context, input.request));
  const results = await fileSource(resolvePath(context, input.results));
  const answers = await resultsFor(asked, results, input);
  const sheets: Sheet[] = [];
  try {
    const out = await begin(context, input.out);
    sheets.push(out);
    const dropped = input.dropped === undefined ? undefined : await begin(context, input.dropped);
    if (dropped) sheets.push(dropped);
    const counts = await write(nextRequest(asked.source.open(), answers, input.actions), {
      out,
      dropped,
      actions: input.actions,
      signal: context.signal,
    });
    for (const sheet of sheets) await sheet.finish(input.force);
    return { file: input.out, ...counts, dropped_file: input.dropped ?? null };
  } finally {
    for (const sheet of sheets) await sheet.discard();
  }
}

async function resultsFor(
  asked: RequestFile,
  results: Rereadable,
  { request, results: name }: NextInput,
): Promise<ResultsByToken> {
  const found = await reconcile(asked.source, results);
  const odd = found.notRequested + found.duplicates;
  if (odd > 0) {
    throw new SvcError(
      'checksum_mismatch',
      `${odd} rows of ${name} match no row of ${request}: nothing was written`,
      {
        hint: `See that the two files belong together: 'svc au report ${name} --request ${request}'.`,
        facts: { not_requested: found.notRequested, duplicates: found.duplicates },
      },
    );
  }
  // A token that is requested twice takes its answer wherever that stands, so that no row keeps an old token.
  const inOrder = found.matchedBy === 'order' && asked.check.duplicates.count === 0;
  return inOrder ? resultsInOrder(results.open()) : indexResults(results.open());
}

async function begin(context: Context, target: string): Promise<Sheet> {
  if (target !== '-') return Draft.begin(resolvePath(context, target));
  return { write: (text) => context.out.write(text), finish: nothing, discard: nothing };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

interface Sheets {
  readonly out: Sheet;
  readonly dropped: Sheet | undefined;
  readonly actions: Actions;
  readonly signal: AbortSignal;
}

type Counts = Omit<NextRequest, 'file' | 'dropped_file'>;

async function write(batches: AsyncIterable<readonly NextRow[]>, sheets: Sheets): Promise<Counts> {
  const { out, dropped, actions, signal } = sheets;
  const counts = { replaced: 0, kept: 0, fix: 0, dropped: 0 };
  const byCode: Record<string, number> = {};
  await out.write(`${REQUEST_HEADER}\n`);
  await dropped?.write(csvRow(['row', ...REQUEST_COLUMNS, 'result_code', 'reason']));
  let row = 0;
  for await (const batch of batches) {
    signal.throwIfAborted();
    const lines: string[] = [];
    for (const next of batch) {
      row += 1;
      counts[next.kind] += 1;
      if (next.kind !== 'dropped') lines.push(next.line, '\n');
      else {
        const code = next.code ?? '';
        byCode[code] = (byCode[code] ?? 0) + 1;
        await dropped?.write(csvRow([String(row), ...cellsOf(next.request), code, reasonFor(code, actions)]));
      }
    }
    await out.write(lines.join(''));
  }
  const kept = counts.kept + counts.fix;
  return {
    rows: counts.replaced + kept,
    replaced: counts.replaced,
    kept,
    to_fix: counts.fix,
    dropped: counts.dropped,
    dropped_by_code: byCode,
  };
}

function reasonFor(code: string, actions: Actions): string {
  const { meaning } = explainResultCode(code);
  return actions.has(code) ? `${meaning} (excluded by your choice)` : meaning;
}
