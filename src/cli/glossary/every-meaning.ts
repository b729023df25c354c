import { EXIT_CODES } from '../../base/errors.ts';
import updater from './account-updater.json' with { type: 'json' };
import fields from './fields.json' with { type: 'json' };
import { asClause, type Meaning, meaningsIn } from './glossary.ts';
import own from './svc.json' with { type: 'json' };
import { THREE_DS_MEANINGS } from './three-ds.ts';
import vault from './vault.json' with { type: 'json' };

/** The meanings of everything that the service and svc name. */
export const EVERY_MEANING: readonly Meaning[] = [
  ...meaningsIn(vault),
  ...meaningsIn(updater),
  ...THREE_DS_MEANINGS,
  ...meaningsIn(fields),
  ...meaningsIn(own).map(withExitCode),
];

/** Returns the words of a kind, each with its meaning as a clause. */
export function wordsOf(kind: string): [name: string, meaning: string][] {
  return EVERY_MEANING.filter((meaning) => meaning.kind === kind).map(({ name, means }) => [name, asClause(means)]);
}

function withExitCode(meaning: Meaning): Meaning {
  const codes: Readonly<Record<string, number>> = EXIT_CODES;
  return meaning.kind === 'error code' ? { ...meaning, code: String(codes[meaning.name]) } : meaning;
}
