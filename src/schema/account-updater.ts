import * as z from 'zod/mini';
import type { JOB_STATUSES } from './account-updater-files.ts';
import { cursorPageSchema, decisiveText, otherwise, shown, text } from './response.ts';

export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * An Account Updater job. `upload_url` and `expires_at` are there while it is pending, `download_url` once it
 * is completed. Both addresses are secrets.
 */
export const accountUpdaterJobSchema = z.looseObject({
  id: z.string(),
  tenant_id: decisiveText,
  status: z.string(),
  created_by: text,
  created_at: decisiveText,
  expires_at: decisiveText,
  upload_url: decisiveText,
  errors: shown(z.array(z.string())),
  download_url: decisiveText,
});
export type AccountUpdaterJob = z.infer<typeof accountUpdaterJobSchema>;

/** Response of GET /account-updater/jobs as documented, newest job first. */
export const accountUpdaterJobPageSchema = cursorPageSchema(accountUpdaterJobSchema);

/** A job in a list. Another system may own it, so that no member is required: what is missing is unknown. */
const listedJobSchema = z.looseObject({
  id: text,
  tenant_id: text,
  status: text,
  created_by: text,
  created_at: text,
  expires_at: text,
  upload_url: text,
  errors: shown(z.array(z.string())),
  download_url: text,
});
export type ListedJob = z.infer<typeof listedJobSchema>;

/** The page that a list is read in: an item that is no object stops nobody, and has no known member. */
export const listedJobPageSchema = cursorPageSchema(otherwise(listedJobSchema, () => ({})));

/** The event type that the interface names. */
const JOB_COMPLETED = 'account-updater.job.completed';

/** Event types that were seen; a webhook may deliver others. */
export const EVENT_TYPES = ['account-updater.job.created', JOB_COMPLETED, 'account-updater.job.failed'] as const;

/** What a webhook delivers. The same event can come twice: `event.id` tells. `delivered_at` serves replay checks. */
export const webhookDeliverySchema = z.looseObject({
  event: z.looseObject({
    id: z.string(),
    type: z.string(),
    timestamp: text,
    tenant_id: text,
    trace_id: text,
    data: z.nullish(z.looseObject({ job: z.nullish(z.looseObject({ id: text, status: text })) })),
  }),
  delivered_at: text,
});
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>;
