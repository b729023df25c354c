import { summarizeResults, type ResultSummary } from '../csv/summarize-results.ts';
import { fileSource } from '../transfer/source.ts';

/** Counts a result file; rows that were sent and are not in it are unchanged. */
export async function countResults(
  file: string,
  rowsSent: number,
): Promise<ResultSummary & { readonly unchanged: number }> {
  const summary = await summarizeResults((await fileSource(file)).open());
  return { ...summary, unchanged: Math.max(0, rowsSent - summary.rows) };
}
