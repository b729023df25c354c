import * as z from 'zod';
import { offsetPageSchema } from './pagination.ts';

/** An application of a tenant. The interface lists them and shows none of their fields. */
export const applicationSchema = z.looseObject({
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
