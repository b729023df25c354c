/** Entity types that the interface names; the service can have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;
