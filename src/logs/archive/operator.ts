import { hostname, userInfo } from 'node:os';

/** Returns the user and host of this process. */
export function operator(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A user in a container may have no name.
    return `unknown@${hostname()}`;
  }
}
