import { baseUrlText } from '../config/values.ts';
import type { Context } from './command.ts';

/**
 * Returns the service that processes the jobs of a command. The embedded sandbox is always the same service, whatever its
 * address.
 */
export function serviceOf({ settings }: Pick<Context, 'settings'>): string {
  if (settings.sandbox && settings.baseUrl === undefined) return 'sandbox';
  return baseUrlText(settings.requireBaseUrl());
}
