import * as z from 'zod/mini';
import { shown, text } from './response.ts';

/** The two types of key: `management` for logs and the tenant, `private` for 3DS and the Account Updater. */
export type KeyType = 'management' | 'private';

export type TenantType = 'production' | 'test';

/** The longest tenant name that the service takes, in characters. */
export const MAX_TENANT_NAME_LENGTH = 200;

/** Settings whose value is the text `true` or `false`. */
export const BOOLEAN_TENANT_SETTINGS = ['fingerprint_tokens', 'disable_ephemeral_proxy', 'deduplicate_tokens'] as const;

/** Known values of the setting `token_deduplication_behavior`. */
export const DEDUPLICATION_BEHAVIORS = ['update_existing', 'read_existing'] as const;

// The interface promises strings; a service that returns real booleans must not stop a read.
const settingValue = shown(z.union([z.string(), z.boolean()]));

/** A tenant's settings as returned. Unknown settings are kept. */
const tenantSettingsSchema = z.looseObject({
  fingerprint_tokens: settingValue,
  disable_ephemeral_proxy: settingValue,
  deduplicate_tokens: settingValue,
  token_deduplication_behavior: text,
});

/** The tenant that owns the calling key. `type` is a `TenantType`, or new. */
export const tenantSchema = z.looseObject({
  id: z.string(),
  owner_id: text,
  type: text,
  name: text,
  settings: shown(tenantSettingsSchema),
  created_by: text,
  created_at: text,
  modified_by: text,
  modified_at: text,
});
export type Tenant = z.infer<typeof tenantSchema>;

const booleanText = z.optional(z.enum(['true', 'false']));

/** Body of PUT /tenants/self. Settings are strings, also those that contain booleans; unknown settings are allowed. */
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

/** The body of an update, made from a tenant. It replaces the tenant, so it contains everything to keep. */
export interface TenantBody {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

const tokenTypeMetricsSchema = z.looseObject({ count: shown(z.number()), last_created_at: text });

/**
 * Response of GET /tenants/self/reports/usage. `metrics_by_type` is keyed by token type. `token_report` is all of the
 * report, so that a response without it is none.
 */
export const usageReportSchema = z.looseObject({
  token_report: z.looseObject({
    metrics_by_type: shown(z.record(z.string(), shown(tokenTypeMetricsSchema))),
    included_monthly_active_tokens: shown(z.number()),
    monthly_active_tokens: shown(z.number()),
  }),
});
export type UsageReport = z.infer<typeof usageReportSchema>;

/** What messages say of a tenant. */
export interface TenantFacts {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}
