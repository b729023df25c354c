/** What a value in a 3DS response means, in the operator's words. */
export interface Meaning {
  /** The field that holds it, in words. */
  readonly kind: string;
  readonly name: string;
  /** The EMV code, where the interface gives one. */
  readonly code?: string | undefined;
  readonly means: string;
  /** Who bears the loss when the payment turns out to be fraud, where the value says something of it. */
  readonly liability?: string | undefined;
  readonly next: string;
}

/** A meaning without what its key in a table already says. */
export type Said = Omit<Meaning, 'kind' | 'name' | 'code'>;

/** The meanings of one kind, from what is said of each name and the codes that some have. */
export function meaningsOf(
  kind: string,
  said: Readonly<Record<string, Said>>,
  codes: Readonly<Record<string, string>> = {},
): Meaning[] {
  return Object.entries(said).map(([name, rest]) => Object.assign({ kind, name, code: codes[name] }, rest));
}
