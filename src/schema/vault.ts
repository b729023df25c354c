import * as z from 'zod/mini';
import { offsetPageSchema, text } from './response.ts';

/** Body of POST /tokens, as far as card tokens need it. The date may be given as text or as numbers. */
export const createCardTokenSchema = z.looseObject({
  type: z.literal('card'),
  data: z.looseObject({
    /** 12 to 19 digits. */
    number: z.string(),
    /** 1 to 12. */
    expiration_month: z.nullish(z.union([z.string(), z.number()])),
    /** 4 digits. */
    expiration_year: z.nullish(z.union([z.string(), z.number()])),
  }),
});

/** Response of POST /tokens for a card. The number comes back masked. */
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

/** An application of a tenant. The interface lists them and shows none of their fields. */
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
