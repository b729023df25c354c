import * as z from 'zod/mini';
import { displayed, text } from './response.ts';

/** The two types of key: `management` for logs and the tenant, `private` for 3DS and the Account Updater. */
export type KeyType = 'management' | 'private';

export type TenantType = 'production' | 'test';

/** The maximum length of a tenant name, in characters. */
export const MAX_TENANT_NAME_LENGTH = 200;

/** Settings whose value is the text `true` or `false`. */
export const BOOLEAN_TENANT_SETTINGS = ['fingerprint_tokens', 'disable_ephemeral_proxy', 'deduplicate_tokens'] as const;

/** Known values of the setting `token_deduplication_behavior`. */
export const DEDUPLICATION_BEHAVIORS = ['update_existing', 'read_existing'] as const;

// Documented as strings. The service may still return real booleans.
const settingValue = displayed(z.union([z.string(), z.boolean()]));

/** The settings of a tenant in a response. Unknown settings are kept. */
const tenantSettingsSchema = z.looseObject({
  fingerprint_tokens: settingValue,
  disable_ephemeral_proxy: settingValue,
  deduplicate_tokens: settingValue,
  token_deduplication_behavior: text,
});

/** The tenant of the key that sends the request. `type` is a `TenantType`, or a new type. */
export const tenantSchema = z.looseObject({
  id: z.string(),
  owner_id: text,
  type: text,
  name: text,
  settings: displayed(tenantSettingsSchema),
  created_by: text,
  created_at: text,
  modified_by: text,
  modified_at: text,
});
export type Tenant = z.infer<typeof tenantSchema>;

const booleanText = z.optional(z.enum(['true', 'false']));

/** Body of PUT /tenants/self. All settings are strings, including booleans. Unknown settings are allowed. */
export const tenantUpdateSchema = z.strictObject({
  name: z.string().check(z.maxLength(MAX_TENANT_NAME_LENGTH), z.regex(/\S/, 'Must not be blank')),
  settings: z.nullish(
    z.catchall(
      z.object({
        fingerprint_tokens: booleanText,
        disable_ephemeral_proxy: booleanText,
        deduplicate_tokens: booleanText,
        token_deduplication_behavior: z.optional(z.enum(DEDUPLICATION_BEHAVIORS)),
      }),
      z.string(),
    ),
  ),
});

/** The body of an update. An update replaces the tenant, so the body contains every setting to keep. */
export interface TenantBody {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

const tokenTypeMetricsSchema = z.looseObject({ count: displayed(z.number()), last_created_at: text });

/**
 * Response of GET /tenants/self/reports/usage. `metrics_by_type` is keyed by token type. A response without `token_report` is
 * invalid.
 */
export const usageReportSchema = z.looseObject({
  token_report: z.looseObject({
    metrics_by_type: displayed(z.record(z.string(), displayed(tokenTypeMetricsSchema))),
    included_monthly_active_tokens: displayed(z.number()),
    monthly_active_tokens: displayed(z.number()),
  }),
});
export type UsageReport = z.infer<typeof usageReportSchema>;

/** The facts of a tenant for messages. */
export interface TenantFacts {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}
