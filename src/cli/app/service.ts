import { baseUrlText } from '../config/values.ts';
import type { Context } from './command.ts';

/** The service that a run's jobs are at. The embedded sandbox is one and the same, wherever it listens. */
export function serviceOf({ settings }: Pick<Context, 'settings'>): string {
  if (settings.sandbox && settings.baseUrl === undefined) return 'sandbox';
  return baseUrlText(settings.requireBaseUrl());
}
