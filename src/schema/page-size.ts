/** The number of items on a page for a request without a page size. */
export const DEFAULT_PAGE_SIZE = 20;

/** The maximum number of items on a page. */
export const MAX_PAGE_SIZE = 100;
