import { baseUrlText } from '../config/values.ts';
import type { Context } from './command.ts';

/**
 * Returns the base URL of the service in use, or `sandbox` for the embedded sandbox, whose address differs in each run.
 * @throws SvcError `config` if no base URL is set, or if the config file is unreadable
 */
export function serviceOf(context: Pick<Context, 'settings'>): string {
  return isEmbeddedSandbox(context) ? 'sandbox' : baseUrlText(context.settings.requireBaseUrl());
}

/** Tells whether the service in use is the embedded sandbox. */
export function isEmbeddedSandbox({ settings }: Pick<Context, 'settings'>): boolean {
  return settings.sandbox && settings.baseUrl === undefined;
}
