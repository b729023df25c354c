/** How many items the service puts on a page of a list that names no size. */
export const DEFAULT_PAGE_SIZE = 20;

/** The most items that a page of a list may have. */
export const MAX_PAGE_SIZE = 100;
