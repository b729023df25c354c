import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { applicationId, tenantId } from '../seed/entities.ts';
import type { Service } from '../service.ts';
import { expiryOf, jobStatus } from '../state/job-status.ts';
import type { Job } from '../state/world.ts';
import { signedAddress } from '../store/address.ts';
import { requestObject, resultObject } from '../store/objects.ts';
import { isoTime } from '../time.ts';

/** How long a download address lives, in milliseconds. */
const DOWNLOAD_LIFE_MS = 15 * 60 * 1000;

/** A job as the service answers it. Addresses are signed anew at every look. */
export function jobView(service: Service, job: Job, now: number): AccountUpdaterJob {
  const { seed, secret } = service.state.world.start;
  const status = jobStatus(job, now);
  const sign = (method: string, object: string, expires: number): string =>
    signedAddress(service.origin(), { method, object, expires }, secret);
  return {
    id: job.id,
    tenant_id: tenantId(seed),
    status,
    created_by: applicationId(seed, job.application),
    created_at: isoTime(job.createdAt),
    ...(status === 'pending' && {
      expires_at: isoTime(expiryOf(job)),
      upload_url: sign('PUT', requestObject(job.id), expiryOf(job)),
    }),
    errors: status === 'failed' ? [...(job.result?.errors ?? [])] : [],
    ...(status === 'completed' && {
      download_url: sign('GET', resultObject(job.id), now + DOWNLOAD_LIFE_MS),
    }),
  };
}
