/** The version of 3-D Secure that the sandbox authenticates by. */
export const PROTOCOL_VERSION = '2.2.0';

/** The versions that all parties of the sandbox understand, oldest first. */
export const KNOWN_VERSIONS: readonly string[] = ['2.1.0', PROTOCOL_VERSION];
