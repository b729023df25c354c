import * as z from 'zod';
import { offsetPageSchema } from './response.ts';

/** Body of POST /tokens, as far as card tokens need it. The date may be given as text or as numbers. */
export const createCardTokenSchema = z.looseObject({
  type: z.literal('card'),
  data: z.looseObject({
    /** 12 to 19 digits. */
    number: z.string(),
    /** 1 to 12. */
    expiration_month: z.union([z.string(), z.number()]).nullish(),
    /** 4 digits. */
    expiration_year: z.union([z.string(), z.number()]).nullish(),
  }),
});

/** Answer of POST /tokens for a card. The number comes back masked. */
export const cardTokenSchema = z.looseObject({
  id: z.string(),
  tenant_id: z.string().nullish(),
  type: z.string(),
  data: z.looseObject({
    number: z.string(),
    expiration_month: z.number().nullish(),
    expiration_year: z.number().nullish(),
  }),
  created_by: z.string().nullish(),
  created_at: z.string().nullish(),
});

/** Answer of POST /tokens for a card. */
export type CardToken = z.infer<typeof cardTokenSchema>;

/** An application of a tenant. The interface lists them and shows none of their fields. */
const applicationSchema = z.looseObject({
  id: z.string(),
  tenant_id: z.string().nullish(),
  name: z.string().nullish(),
  type: z.string().nullish(),
  permissions: z.array(z.string()).nullish(),
  created_by: z.string().nullish(),
  created_at: z.string().nullish(),
});

/** An application of a tenant. */
export type Application = z.infer<typeof applicationSchema>;

/** Answer of GET /applications. */
export const applicationPageSchema = offsetPageSchema(applicationSchema);
