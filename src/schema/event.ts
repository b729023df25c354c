import * as z from 'zod';

/** The event type that the interface names. */
const JOB_COMPLETED = 'account-updater.job.completed';

/** Event types that were seen; a webhook may bring others. */
export const EVENT_TYPES = [
  'account-updater.job.created',
  JOB_COMPLETED,
  'account-updater.job.failed',
] as const;

/** What a webhook brings. The same event can come twice: `event.id` tells. `delivered_at` serves replay checks. */
export const webhookDeliverySchema = z.looseObject({
  event: z.looseObject({
    id: z.string(),
    type: z.string(),
    timestamp: z.string().nullish(),
    tenant_id: z.string().nullish(),
    trace_id: z.string().nullish(),
    data: z
      .looseObject({
        job: z.looseObject({ id: z.string().nullish(), status: z.string().nullish() }).nullish(),
      })
      .nullish(),
  }),
  delivered_at: z.string().nullish(),
});

/** What a webhook brings. */
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>;
