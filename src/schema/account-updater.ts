import * as z from 'zod/mini';
import type { JOB_STATUSES } from './account-updater-files.ts';
import { cursorPageSchema, decisiveText, withFallback, displayed, text } from './response.ts';

export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * An Account Updater job. A pending job has `upload_url` and `expires_at`, a completed job has `download_url`. Both addresses
 * are secrets.
 */
export const accountUpdaterJobSchema = z.looseObject({
  id: z.string(),
  tenant_id: decisiveText,
  status: z.string(),
  created_by: text,
  created_at: decisiveText,
  expires_at: decisiveText,
  upload_url: decisiveText,
  errors: displayed(z.array(z.string())),
  download_url: decisiveText,
});
export type AccountUpdaterJob = z.infer<typeof accountUpdaterJobSchema>;

/** A job in a list. Every member is optional, because a job of another system must not make the list unreadable. */
const listedJobSchema = z.looseObject({
  id: text,
  tenant_id: text,
  status: text,
  created_by: text,
  created_at: text,
  expires_at: text,
  upload_url: text,
  errors: displayed(z.array(z.string())),
  download_url: text,
});
export type ListedJob = z.infer<typeof listedJobSchema>;

/** A page of a list of jobs. An item that is not an object counts as a job without members. */
export const listedJobPageSchema = cursorPageSchema(withFallback(listedJobSchema, () => ({})));

/** The body of a webhook delivery. An event can arrive twice, with the same `event.id`. */
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
