// The event types that `svc events trigger` offers.

import { EVENT_TYPES } from '../schema/account-updater-files.ts';

/** The event types that `svc events trigger` offers. Any other type needs --type. */
export const TRIGGER_TYPES: readonly string[] = [
  ...EVENT_TYPES,
  '3ds.session.authenticated',
  'tenant.updated',
  'tenant.deleted',
];

/** Whether a text has the form of an event type: words joined by dots, at most 100 characters. */
export function isEventType(text: string): boolean {
  return text.length <= 100 && /^[a-z\d_-]+(?:\.[a-z\d_-]+)+$/i.test(text);
}
