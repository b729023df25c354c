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

/** Returns who signed a review: the given name, and the account that ran the command if that is another. */
export function signerText({ by, account }: Readonly<Record<'by' | 'account', string>>): string {
  return by === account ? by : `${by} (${account})`;
}
