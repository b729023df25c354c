// Joins two requests of a cycle, with their kept columns.

import { REQUEST_HEADER } from '../request/request-file.ts';
import { type RequestRow, readRequest, rowKeyOf } from '../request/request-lines.ts';
import { openSpool } from '../request/spool.ts';
import { TokenTable } from '../request/token-table.ts';
import { KEPT_COLUMNS, openKept } from '../results/kept-columns.ts';
import { TokenRows } from '../results/rows-of-request.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';

/** The paths of a request and of its kept columns. */
export interface RequestPaths {
  readonly request: string;
  readonly keep: string | undefined;
}

/** Joins two requests in private files. A row in both appears once, with the kept columns of the added request. */
export async function joinRequests(
  context: Context,
  earlier: RequestPaths,
  added: RequestPaths,
): Promise<RequestPaths> {
  const request = await openSpool(context);
  const written = new TokenTable();
  await writeWhole(request, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const { request: path } of [earlier, added])
      for await (const rows of readRequest((await fileSource(path)).open())) {
        const newRows = rows.filter((row) => written.setIfAbsent(rowKeyOf(row), 1) === 0);
        await draft.write(newRows.map(({ line }) => `${line}\n`).join(''));
      }
  });
  if (earlier.keep === undefined && added.keep === undefined) return { request, keep: undefined };
  return { request, keep: await joinKept(context, request, [earlier, added]) };
}

/** Writes the kept columns of a joined request. For a row with columns in several sources, the last source counts. */
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
  const placeOf = tokens.occurrenceCounter();
  const places = new TokenTable();
  for await (const rows of readRequest(source.open()))
    for (const row of rows) places.set(rowKeyOf(row), placeOf(row.token) + 1);
  const cellsOf = (row: RequestRow): [string, string][] => {
    const place = places.get(rowKeyOf(row));
    if (place === 0 || !kept.has(row.token)) return [];
    const cells = kept.cellsAt(row.token, place - 1, tokens.countRows(row.token));
    return kept.names.map((name, at) => [name, cells[at] ?? '']);
  };
  return { names: kept.names, cellsOf };
}
