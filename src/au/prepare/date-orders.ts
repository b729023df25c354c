// The orders of day, month and year in which an export may write its dates.

/**
 * The orders in which an ambiguous expiration can be read: month and year (`my`), year and month (`ym`), a full date
 * (`dmy`, `mdy`, `ymd`), or the day number of a spreadsheet (`serial`).
 */
export const DATE_ORDERS = ['my', 'ym', 'dmy', 'mdy', 'ymd', 'serial'] as const;

export type DateOrder = (typeof DATE_ORDERS)[number];

/** What each order means. */
export const ORDER_NAMES: Readonly<Record<DateOrder, string>> = {
  my: 'month and year',
  ym: 'year and month',
  dmy: 'day, month and year',
  mdy: 'month, day and year',
  ymd: 'year, month and day',
  serial: 'the day number of a spreadsheet',
};

/** Reads comma-separated lists of orders. Returns each order once, in the order of `DATE_ORDERS`; ignores unknown names. */
export function dateOrders(texts: readonly string[]): DateOrder[] {
  const names = texts.flatMap((text) => text.split(','));
  return DATE_ORDERS.filter((order) => names.some((name) => name.trim() === order));
}
