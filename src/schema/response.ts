import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';

/** Gives a value of another shape another meaning, so that it stops nobody. */
export { otherwise };

// Without a locale every message of zod is "Invalid input".
z.config(z.locales.en());

/** A member that no decision reads, and may be missing. A value of another type counts as missing, and costs nothing else. */
export function shown<S extends z.ZodMiniType>(shape: S) {
  return otherwise(z.nullish(shape), undefined);
}

/** Text that no decision reads. */
export const text = shown(z.string());

/** Text that may be missing, and must be text because a decision reads it. */
export const decisiveText = z.nullish(z.string());

/** A page of a cursor-paginated list (logs, Account Updater jobs). At the end `next` is null, empty or absent. */
export function cursorPageSchema<Item extends z.ZodMiniType>(item: Item) {
  return z.looseObject({
    pagination: z.nullish(z.looseObject({ next: decisiveText, page_size: shown(z.number()) })),
    data: z.array(item),
  });
}

/** A page of an offset-paginated list (most list endpoints). `page_number` starts at 1. */
export function offsetPageSchema<Item extends z.ZodMiniType>(item: Item) {
  return z.looseObject({
    pagination: z.nullish(
      z.looseObject({
        total_items: shown(z.number()),
        page_number: shown(z.number()),
        page_size: shown(z.number()),
        total_pages: shown(z.number()),
      }),
    ),
    data: z.array(item),
  });
}

/** The type that `cursorPageSchema` reads. */
export type CursorPage<Item> = z.output<ReturnType<typeof cursorPageSchema<z.ZodMiniType<Item>>>>;

/** An error body (RFC 9457). The interface documents none, so every member is optional. */
export const problemSchema = z.looseObject({
  title: text,
  detail: text,
  status: shown(z.number()),
  /** Messages by field. */
  errors: shown(z.record(z.string(), z.array(z.string()))),
});

/** Any shape of this folder, for tables that name the shape of a body. */
export type Shape = z.ZodMiniType;

/** The type of a value checked by a shape. */
export type Checked<S extends Shape> = z.output<S>;
