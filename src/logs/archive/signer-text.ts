/** Returns who signed a review: the given name, and the account that ran the command if that is another. */
export function signerText({ by, account }: Readonly<Record<'by' | 'account', string>>): string {
  return by === account ? by : `${by} (${account})`;
}
