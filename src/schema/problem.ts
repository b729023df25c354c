import * as z from 'zod';

/** An error body (RFC 9457). The interface shows none, so nothing in it is relied on. */
export const problemSchema = z.looseObject({
  title: z.string().nullish(),
  detail: z.string().nullish(),
  status: z.number().nullish(),
  /** Messages by field. */
  errors: z.record(z.string(), z.array(z.string())).nullish(),
});
