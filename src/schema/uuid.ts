/** The pattern of a UUID, as text for use in other patterns. */
export const UUID_FORM = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}';

/** A whole UUID, in either case. */
export const UUID = new RegExp(`^${UUID_FORM}$`, 'i');
