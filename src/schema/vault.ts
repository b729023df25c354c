import * as z from 'zod/mini';
import { offsetPageSchema, text } from './response.ts';

/** Response of POST /tokens for a card. The number is masked. */
export const cardTokenSchema = z.looseObject({
  id: z.string(),
  tenant_id: text,
  type: z.string(),
  data: z.looseObject({
    number: z.string(),
    expiration_month: z.nullish(z.number()),
    expiration_year: z.nullish(z.number()),
  }),
  created_by: text,
  created_at: text,
});
export type CardToken = z.infer<typeof cardTokenSchema>;

/** An application of a tenant. The fields of applications are not documented. */
const applicationSchema = z.looseObject({
  id: z.string(),
  tenant_id: text,
  name: text,
  type: text,
  permissions: z.nullish(z.array(z.string())),
  created_by: text,
  created_at: text,
});
export type Application = z.infer<typeof applicationSchema>;

/** Response of GET /applications. */
export const applicationPageSchema = offsetPageSchema(applicationSchema);
