import { isSvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { type ClaimEntry, type Entry, parseEntry } from './entry.ts';

/** An entry of which only the beginning is there. Any row of the cycle may have been claimed by it. */
export interface CutEntry {
  /** The name by which the operator abandons it: the folder of its cycle and its number. */
  readonly name: string;
  readonly previous: string | null;
  readonly bytes: Uint8Array;
}

/** Tells whether bytes are an entry that was not written to its end, and not something else. */
export function isCut(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  return (text === '' || text.startsWith('{')) && parsedJson(text) === undefined;
}

/** Tells whether an entry is the claim that replaces a cut one. */
export function isOfCutEntry(entry: Entry): boolean {
  return entry.kind === 'claim' && entry.part === 0;
}

/**
 * Returns a cut entry as a claim of unknown rows if the next entry is the operator's word that these rows are free.
 * Returns undefined for one that nobody abandoned.
 */
export function abandonedClaim(cut: CutEntry, next: Uint8Array | undefined): ClaimEntry | undefined {
  const sha256 = sha256Of(cut.bytes);
  try {
    const release = next && parseEntry(next, '');
    if (release?.kind !== 'release' || release.job !== cut.name || release.previous !== sha256) return undefined;
    const { at, by } = release;
    const file = { name: cut.name, sha256, rows: 0 };
    const nothing = { rows: 0, run: '', part: 0, bytes: 0 };
    const claim = { kind: 'claim', job: cut.name, created_at: at, expires_at: null, row_set: null } as const;
    return { version: 1, previous: cut.previous, at, by, ...claim, ...nothing, file, sha256 };
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}
