import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { openSpool } from '../request/spool-output.ts';
import { TokenTable } from '../request/token-table.ts';
import { KEPT_COLUMNS, openKept } from '../results/kept-columns.ts';
import { TokenRows } from '../results/token-rows.ts';

/** The paths of a request and of the columns that were kept with it. */
export interface RequestPaths {
  readonly request: string;
  readonly keep: string | undefined;
}

/**
 * Adds to a request the rows of another one that it does not have, in private files. A row that both have gets the kept
 * columns of the other one.
 */
export async function joinRequests(
  context: Context,
  earlier: RequestPaths,
  added: RequestPaths,
): Promise<RequestPaths> {
  const request = await openSpool(context);
  const known = new TokenTable({ words: 3 });
  await writeWhole(request, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const { request: path } of [earlier, added])
      for await (const rows of readRequest((await fileSource(path)).open())) {
        const fresh = rows.filter((row) => known.setIfAbsent(rowKeyOf(row), 1) === 0);
        await draft.write(fresh.map(({ line }) => `${line}\n`).join(''));
      }
  });
  if (earlier.keep === undefined && added.keep === undefined) return { request, keep: undefined };
  return { request, keep: await joinKept(context, request, [earlier, added]) };
}

/** Writes the kept columns of the rows of a request, which come from other ones: those of the last that has them count. */
async function joinKept(context: Context, request: string, sources: readonly RequestPaths[]): Promise<string> {
  const path = await openSpool(context);
  const kept = await Promise.all(sources.map((source) => keptOf(context, source)));
  const names = [...new Set(kept.flatMap((each) => each.names))];
  await writeWhole(path, true, async (draft) => {
    await draft.write(csvRow([...KEPT_COLUMNS, ...names]));
    let number = 0;
    for await (const rows of readRequest((await fileSource(request)).open()))
      for (const row of rows) {
        const cells = new Map<string, string>(kept.flatMap((each) => each.cellsOf(row)));
        await draft.write(csvRow([String((number += 1)), row.token, ...names.map((name) => cells.get(name) ?? '')]));
      }
  });
  return path;
}

/** Returns the kept columns of the rows of a request by their names; none for the rows of other requests. */
async function keptOf(context: Context, { request, keep }: RequestPaths) {
  const kept = await openKept(context, keep);
  if (kept === undefined) return { names: [], cellsOf: (): [string, string][] => [] };
  const source = await fileSource(request);
  const tokens = await TokenRows.of(source);
  const placeOf = tokens.counting();
  const places = new TokenTable({ words: 3 });
  for await (const rows of readRequest(source.open()))
    for (const row of rows) places.set(rowKeyOf(row), placeOf(row.token) + 1);
  const cellsOf = (row: RequestRow): [string, string][] => {
    const place = places.get(rowKeyOf(row));
    if (place === 0 || !kept.has(row.token)) return [];
    const cells = kept.cellsAt(row.token, place - 1, tokens.rowsOf(row.token));
    return kept.names.map((name, at) => [name, cells[at] ?? '']);
  };
  return { names: kept.names, cellsOf };
}
