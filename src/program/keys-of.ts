import type { Context } from '../cli/context.ts';
import { keyOrigin, resolveKey } from '../config/keys.ts';
import type { ApiKey } from '../http/core.ts';
import type { KeyKind } from '../http/request.ts';
import type { Parts } from './context.ts';

/** Finds a profile's keys once, so that a key command runs at most once; a key file may change meanwhile. */
export function keysOf(context: Context, { system, settings, redactor }: Parts): Context['key'] {
  const found = new Map<KeyKind, Promise<ApiKey>>();
  const find = async (kind: KeyKind): Promise<ApiKey> => {
    const { value, origin } = await resolveKey(system, settings, kind, {
      signal: context.signal,
      onLine: (line) => context.notices.note(line),
      onSecret: (text) => redactor.addSecret(text),
    });
    redactor.addSecret(value);
    const profile = `profile ${settings.profile.value}`;
    if (origin.kind === 'default') return { value, origin: profile };
    return { value, origin: origin.kind === 'environment' ? `${origin.name} (${profile})` : origin.name };
  };
  return (kind) => {
    if (keyOrigin(system, settings, kind)?.kind !== 'profile') return find(kind);
    const key = found.get(kind) ?? find(kind);
    found.set(kind, key);
    return key;
  };
}
