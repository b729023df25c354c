import { baseUrlText } from '../config/values.ts';
import type { Context } from './command.ts';

/**
 * Returns the base URL of the service in use, or `sandbox` for the embedded sandbox, whose address differs in each run.
 * @throws SvcError `config` if no base URL is set, or if the config file is unreadable
 */
export function serviceOf({ settings }: Pick<Context, 'settings'>): string {
  if (settings.sandbox && settings.baseUrl === undefined) return 'sandbox';
  return baseUrlText(settings.requireBaseUrl());
}
