import { summarizeResults, type ResultSummary } from '../csv/summarize-results.ts';
import { SvcError } from '../errors.ts';
import { fileSource } from '../transfer/source.ts';

/** Counts a downloaded result file and holds it against what was sent. */
export async function countResults(
  file: string,
  rowsSent: number,
): Promise<ResultSummary & { readonly unchanged: number }> {
  const summary = await summarizeResults((await fileSource(file)).open());
  if (summary.rows <= rowsSent) return { ...summary, unchanged: rowsSent - summary.rows };
  throw new SvcError(
    'altered',
    `${file} has ${summary.rows} rows, more than the ${rowsSent} that were sent`,
    {
      hint: 'The file is kept as it came. Contact the support of the service with the job id.',
      facts: { rows_sent: rowsSent, rows_received: summary.rows },
    },
  );
}
