import { UPLOAD_LIFE_MS, type JobStatus } from '../../schema/account-updater.ts';
import type { Job } from './world.ts';

/** A job's status at a time, computed from its facts. `removed`: no request file came within the hour. */
export function jobStatus(job: Job, now: number): JobStatus | 'removed' {
  if (job.upload === undefined) return now < expiryOf(job) ? 'pending' : 'removed';
  const age = now - job.upload.at;
  if (age < job.upload.pickup) return 'pending';
  if (age < job.upload.processing || job.result === undefined) return 'processing';
  return job.result.errors.length > 0 ? 'failed' : 'completed';
}

/** Whether the time is up for a job whose file nobody has processed yet. */
export function isDue(job: Job, now: number): boolean {
  return job.upload !== undefined && job.result === undefined && now - job.upload.at >= job.upload.processing;
}

/** When a job's upload address expires. */
export function expiryOf(job: Job): number {
  return job.createdAt + UPLOAD_LIFE_MS;
}
