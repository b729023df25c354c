import type * as z from 'zod';

/** Any shape of this folder, for tables that name the shape of a body. */
export type Shape = z.ZodType;

/** What a shape gives when it has checked a value. */
export type Checked<S extends Shape> = z.output<S>;
