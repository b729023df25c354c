import { OUTCOME_WORDS } from '../../schema/three-ds/outcome-words.ts';
import { type Meaning, meaningsIn } from './glossary.ts';
import table from './three-ds.json' with { type: 'json' };

/** The word of the sandbox that decides values of a kind. */
const WORDS_BY_KIND: Readonly<Record<string, string>> = {
  'authentication status': 'status',
  'authentication status reason': 'reason',
  'challenge type': 'challenge',
  'challenge cancel reason': 'cancel',
  'whitelist status': 'whitelist',
  'whitelist status source': 'source',
};

/** The meanings of all documented values of 3DS fields. */
export const THREE_DS_MEANINGS: readonly Meaning[] = meaningsIn(table).map((meaning) =>
  Object.assign(meaning, { sandbox: sandboxOutcome(meaning) }),
);

function sandboxOutcome({ kind, name }: Meaning): string | undefined {
  const word = WORDS_BY_KIND[kind];
  return word !== undefined && OUTCOME_WORDS[word]?.includes(name) ? `${word}=${name}` : undefined;
}
