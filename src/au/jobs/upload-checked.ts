// Uploads a request file for a program, which has no command to check it first.

import { uploadToJob } from '../job/upload.ts';
import type { JobOptions } from '../job/job.ts';
import { checkRequestFile } from '../request/check-request-file.ts';
import { SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/**
 * Checks a request file, and uploads it to its job, once.
 * @throws SvcError `refused_input` with the problems of the file, such as a card number; `outcome_unknown` if the job does not
 *   show the file, or may have another one; `job_expired` if the job had expired before
 */
export async function uploadCheckedFile(
  client: Client,
  job: AccountUpdaterJob,
  source: UploadSource,
  options: JobOptions = {},
): Promise<void> {
  const { signal } = client;
  const { ok, problems, problemCount, exceeds, sha256 } = await checkRequestFile(source.open(), { signal });
  if (!ok)
    throw new SvcError('refused_input', 'the request file breaks rules; nothing was sent', {
      facts: { problems, problem_count: problemCount },
    });
  if (exceeds.bytes) throw new SvcError('refused_input', 'the request file is too large for one job; nothing was sent');
  // The upload fails if the file changes after the check.
  const checked = { size: source.size, sha256: source.sha256 ?? sha256, open: () => source.open() };
  await uploadToJob(client, job, checked, options);
}
