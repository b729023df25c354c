import * as z from 'zod/mini';
import { catch as withFallback } from 'zod/mini';

/** Returns a schema that accepts every value, and reads a fallback in place of one that does not fit. */
export { withFallback };

// Without a locale every message of zod is "Invalid input".
z.config(z.locales.en());

/** A member for display only. May be missing; a value of another type counts as missing. */
export function displayed<S extends z.ZodMiniType>(shape: S) {
  return withFallback(z.nullish(shape), undefined);
}

/** Optional text for display only. */
export const text = displayed(z.string());

/** Optional text on which svc bases decisions. A value of another type is an error. */
export const decisiveText = z.nullish(z.string());

/** A page of a cursor-paginated list (logs, Account Updater jobs). At the end `next` is null, empty or absent. */
export function cursorPageSchema<Item extends z.ZodMiniType>(item: Item) {
  return z.looseObject({
    pagination: z.nullish(z.looseObject({ next: decisiveText, page_size: displayed(z.number()) })),
    data: z.array(item),
  });
}

/** The type of a page that `cursorPageSchema` reads. */
export type CursorPage<Item> = z.output<ReturnType<typeof cursorPageSchema<z.ZodMiniType<Item>>>>;

/** A zod schema of any type. */
export type Shape = z.ZodMiniType;

/** The type of a value checked by a shape. */
export type Checked<S extends Shape> = z.output<S>;
