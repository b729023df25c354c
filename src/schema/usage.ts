import * as z from 'zod';

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
