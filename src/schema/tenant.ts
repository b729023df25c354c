import * as z from 'zod';

/** Known tenant types. */
export const TENANT_TYPES = ['production', 'test'] as const;

/** A known tenant type. */
export type TenantType = (typeof TENANT_TYPES)[number];

/** The longest tenant name that the service takes, in characters. */
export const MAX_TENANT_NAME_LENGTH = 200;

/** Settings that hold the text `true` or `false`. */
export const BOOLEAN_TENANT_SETTINGS = ['fingerprint_tokens', 'disable_ephemeral_proxy', 'deduplicate_tokens'] as const;

/** Known values of the setting `token_deduplication_behavior`. */
export const DEDUPLICATION_BEHAVIORS = ['update_existing', 'read_existing'] as const;

// The interface promises strings; a service that returns real booleans must not stop a read.
const settingValue = z.union([z.string(), z.boolean()]).nullish();

/** A tenant's settings as returned. Unknown settings are kept. */
export const tenantSettingsSchema = z.looseObject({
  fingerprint_tokens: settingValue,
  disable_ephemeral_proxy: settingValue,
  deduplicate_tokens: settingValue,
  token_deduplication_behavior: z.string().nullish(),
});

/** A tenant's settings as returned. */
export type TenantSettings = z.infer<typeof tenantSettingsSchema>;

/** The tenant that owns the calling key. `type` is one of `TENANT_TYPES`, or new. */
export const tenantSchema = z.looseObject({
  id: z.string(),
  owner_id: z.string().nullish(),
  type: z.string(),
  name: z.string(),
  settings: tenantSettingsSchema.nullish(),
  created_by: z.string().nullish(),
  created_at: z.string().nullish(),
  modified_by: z.string().nullish(),
  modified_at: z.string().nullish(),
});

/** The tenant that owns the calling key. */
export type Tenant = z.infer<typeof tenantSchema>;

const booleanText = z.enum(['true', 'false']).optional();

/** Body of PUT /tenants/self. Settings are strings, also those that hold booleans; unknown settings are allowed. */
export const tenantUpdateSchema = z.strictObject({
  name: z.string().max(MAX_TENANT_NAME_LENGTH).regex(/\S/, 'Must not be blank'),
  settings: z
    .object({
      fingerprint_tokens: booleanText,
      disable_ephemeral_proxy: booleanText,
      deduplicate_tokens: booleanText,
      token_deduplication_behavior: z.enum(DEDUPLICATION_BEHAVIORS).optional(),
    })
    .catchall(z.string())
    .optional(),
});

/** Body of PUT /tenants/self. */
export type TenantUpdate = z.infer<typeof tenantUpdateSchema>;

/** Numbers of one token type. */
export const tokenTypeMetricsSchema = z.looseObject({
  count: z.number(),
  last_created_at: z.string().nullish(),
});

/** Numbers of one token type. */
export type TokenTypeMetrics = z.infer<typeof tokenTypeMetricsSchema>;

/** Answer of GET /tenants/self/reports/usage. `metrics_by_type` is keyed by token type. */
export const usageReportSchema = z.looseObject({
  token_report: z.looseObject({
    metrics_by_type: z.record(z.string(), tokenTypeMetricsSchema).nullish(),
    included_monthly_active_tokens: z.number().nullish(),
    monthly_active_tokens: z.number().nullish(),
  }),
});

/** A tenant's usage report. */
export type UsageReport = z.infer<typeof usageReportSchema>;

/** Which tenant it is. */
export type TenantFacts = Pick<Tenant, 'id' | 'name' | 'type'>;
