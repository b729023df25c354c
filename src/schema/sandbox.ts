/** The maximum number of tenants of a sandbox. The keys of each contain its number as one digit. */
export const MAX_TENANTS = 9;
