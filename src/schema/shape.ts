import type * as z from 'zod';

/** Any shape of this folder, for tables that name the shape of a body. */
export type Shape = z.ZodType;
