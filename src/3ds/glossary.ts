import { ownMember } from '../schema/own-member.ts';
import { OUTCOME_WORDS } from '../schema/three-ds/outcome-words.ts';
import { type Meaning, meaningsIn } from '../cli/glossary/glossary.ts';
import table from './glossary.json' with { type: 'json' };

/** The word of a sandbox outcome that sets values of a kind. */
const WORDS_BY_KIND: Readonly<Record<string, string>> = {
  'authentication status': 'status',
  'authentication status reason': 'reason',
  'challenge type': 'challenge',
  'challenge cancel reason': 'cancel',
  'whitelist status': 'whitelist',
  'whitelist status source': 'source',
};

/** The meanings of all 3DS fields and their documented values. */
export const THREE_DS_MEANINGS: readonly Meaning[] = meaningsIn(table).map((meaning) =>
  Object.assign(meaning, { sandbox: sandboxOutcome(meaning) }),
);

function sandboxOutcome({ kind, name }: Meaning): string | undefined {
  const word = ownMember(WORDS_BY_KIND, kind);
  return word !== undefined && ownMember(OUTCOME_WORDS, word)?.includes(name) ? `${word}=${name}` : undefined;
}
