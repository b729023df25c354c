import * as z from 'zod/mini';

// Without a locale every message of zod is "Invalid input".
z.config(z.locales.en());

/** Text that may be missing. */
export const text = z.nullish(z.string());

export const DEFAULT_PAGE_SIZE = 20;

export const MAX_PAGE_SIZE = 100;

/** A page of a cursor-paginated list (logs, Account Updater jobs). At the end `next` is null, empty or absent. */
export function cursorPageSchema<Item extends z.ZodMiniType>(item: Item) {
  return z.looseObject({
    pagination: z.nullish(z.looseObject({ next: text, page_size: z.nullish(z.number()) })),
    data: z.array(item),
  });
}

/** A page of an offset-paginated list (most list endpoints). `page_number` starts at 1. */
export function offsetPageSchema<Item extends z.ZodMiniType>(item: Item) {
  return z.looseObject({
    pagination: z.nullish(
      z.looseObject({
        total_items: z.nullish(z.number()),
        page_number: z.nullish(z.number()),
        page_size: z.nullish(z.number()),
        total_pages: z.nullish(z.number()),
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
  status: z.nullish(z.number()),
  /** Messages by field. */
  errors: z.nullish(z.record(z.string(), z.array(z.string()))),
});

/** Any shape of this folder, for tables that name the shape of a body. */
export type Shape = z.ZodMiniType;

/** The type of a value checked by a shape. */
export type Checked<S extends Shape> = z.output<S>;
