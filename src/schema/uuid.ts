/** The form of a UUID, as the text of a pattern that others contain. */
export const UUID_FORM = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}';

/** A whole UUID, in either case. */
export const UUID = new RegExp(`^${UUID_FORM}$`, 'i');
