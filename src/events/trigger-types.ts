// The event types that `svc events trigger` offers.

import { EVENT_TYPES } from '../schema/account-updater-files.ts';

/** The event types that `svc events trigger` offers. Any other type needs --type. */
export const TRIGGER_TYPES: readonly string[] = [
  ...EVENT_TYPES,
  '3ds.session.authenticated',
  'tenant.updated',
  'tenant.deleted',
];

/** Prefixes of event types whose data is not documented. */
const FAMILIES = ['3ds.session.', 'tenant.'] as const;

/** Returns the family of an event type; undefined for job events and unknown types. */
export function familyOf(type: string): (typeof FAMILIES)[number] | undefined {
  return FAMILIES.find((family) => type.startsWith(family) && /^[a-z][a-z._-]{0,60}$/.test(type.slice(family.length)));
}

/** Whether svc can make up a sample event of this type. */
export function hasSample(type: string): boolean {
  return EVENT_TYPES.some((known) => known === type) || familyOf(type) !== undefined;
}

/** Whether a text has the form of an event type: words joined by dots, at most 100 characters. */
export function isEventType(text: string): boolean {
  return text.length <= 100 && /^[a-z\d_-]+(?:\.[a-z\d_-]+)+$/i.test(text);
}
