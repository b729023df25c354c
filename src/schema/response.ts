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

/** An error body (RFC 9457). The interface shows none, so nothing in it is relied on. */
export const problemSchema = z.looseObject({
  title: z.string().nullish(),
  detail: z.string().nullish(),
  status: z.number().nullish(),
  /** Messages by field. */
  errors: z.record(z.string(), z.array(z.string())).nullish(),
});

/** Any shape of this folder, for tables that name the shape of a body. */
export type Shape = z.ZodType;

/** What a shape gives when it has checked a value. */
export type Checked<S extends Shape> = z.output<S>;

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Named shapes as JSON Schemas that refer to one another by `address`. What a shape checks with code of its own is
 * left out.
 */
export function jsonSchemas(
  shapes: Readonly<Record<string, Shape>>,
  address: (name: string) => string,
): Record<string, JsonSchema> {
  const named = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(shapes)) named.add(shape, { id });
  const { schemas } = z.toJSONSchema(named, { uri: address, unrepresentable: 'any', io: 'input' });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutNames(schema)]));
}

// A document that holds the schemas gives them their addresses, and says the draft once.
function withoutNames(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
}
