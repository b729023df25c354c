import * as z from 'zod';

/** Results a page when no size is asked for. */
export const DEFAULT_PAGE_SIZE = 20;

/** The most results a page can hold. */
export const MAX_PAGE_SIZE = 100;

/** A page of a cursor-paginated list (logs, Account Updater jobs). At the end `next` is null, empty or absent. */
export function cursorPageSchema<Item extends z.ZodType>(item: Item) {
  return z.looseObject({
    pagination: z.looseObject({ next: z.string().nullish(), page_size: z.number().nullish() }).nullish(),
    data: z.array(item),
  });
}

/** A page of an offset-paginated list (most list endpoints). `page_number` starts at 1. */
export function offsetPageSchema<Item extends z.ZodType>(item: Item) {
  return z.looseObject({
    pagination: z
      .looseObject({
        total_items: z.number().nullish(),
        page_number: z.number().nullish(),
        page_size: z.number().nullish(),
        total_pages: z.number().nullish(),
      })
      .nullish(),
    data: z.array(item),
  });
}

/** What `cursorPageSchema` reads. */
export interface CursorPage<Item> {
  pagination?: { next?: string | null | undefined; page_size?: number | null | undefined } | null | undefined;
  data: Item[];
}
