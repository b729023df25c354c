import { THREE_DS_MEANINGS } from '../3ds/glossary.ts';
import updater from '../au/glossary.json' with { type: 'json' };
import { EXIT_CODES } from '../base/errors.ts';
import { type Meaning, meaningsIn, wordsAmong } from '../cli/glossary/glossary.ts';
import service from '../cli/glossary/service.json' with { type: 'json' };
import events from '../events/glossary.json' with { type: 'json' };
import logs from '../logs/glossary.json' with { type: 'json' };
import tenant from '../tenant/glossary.json' with { type: 'json' };
import codes from './codes.json' with { type: 'json' };

/** The meanings of everything that the service and svc name. */
export const EVERY_MEANING: readonly Meaning[] = [
  ...meaningsIn(service),
  ...meaningsIn(logs),
  ...meaningsIn(tenant),
  ...meaningsIn(updater),
  ...meaningsIn(events),
  ...THREE_DS_MEANINGS,
  ...meaningsIn(codes).map(withExitCode),
];

/** Returns the words of a kind, each with the first sentence of its meaning as a clause. */
export function wordsOf(kind: string): [name: string, meaning: string][] {
  return wordsAmong(EVERY_MEANING, kind);
}

function withExitCode(meaning: Meaning): Meaning {
  const codesByName: Readonly<Record<string, number>> = EXIT_CODES;
  return meaning.kind === 'error code' ? { ...meaning, code: String(codesByName[meaning.name]) } : meaning;
}
