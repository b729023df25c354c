import { reconcile } from '../csv/reconcile.ts';
import { isSvcError } from '../errors.ts';
import { hashOf } from '../runs/collect.ts';
import type { RunRecord } from '../runs/record.ts';
import { fileSource } from '../transfer/source.ts';
import type { Context } from './context.ts';

/**
 * Warns of results whose tokens were not requested, as long as the request file is still there and the same. What came
 * through a pipe cannot be compared.
 */
export async function warnOfUnrequested(
  { notices }: Pick<Context, 'notices'>,
  { input, results }: Pick<RunRecord, 'input' | 'results'>,
): Promise<void> {
  if (results === undefined || input.path === undefined) return;
  if ((await hashOf(input.path)) !== input.sha256) return;
  const compared = await reconcile(await fileSource(input.path), await fileSource(results.file)).catch(
    (error: unknown) => {
      // Bytes that the operator vouched for need not be a table.
      if (isSvcError(error, 'altered')) return undefined;
      throw error;
    },
  );
  const { notRequested = 0, answeredAgain = 0, oddities = [] } = compared ?? {};
  const count = notRequested + answeredAgain;
  if (count === 0) return;
  const rows = oddities.slice(0, 3).map(({ row }) => row);
  notices.warn(
    `${count} of the results have a token that was not requested, or not as often: row ${rows.join(', ')}${count > rows.length ? ' …' : ''}; compare with 'svc au report ${results.file} --request ${input.path}', and contact support with the job id`,
  );
}
