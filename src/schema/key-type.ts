/** The two types of key: `management` for logs and the tenant, `private` for 3DS and the Account Updater. */
export const KEY_TYPES = ['management', 'private'] as const;
export type KeyType = (typeof KEY_TYPES)[number];
