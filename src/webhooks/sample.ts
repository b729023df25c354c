import { randomUUID } from 'node:crypto';
import { EVENT_TYPES } from '../schema/account-updater.ts';
import type { Delivery } from './received.ts';

/** Types whose shape is known, and beginnings of types of which no more is known than that they exist. */
export const SAMPLE_TYPES: readonly string[] = EVENT_TYPES;
const SEEN_FAMILIES = ['3ds.session.', 'tenant.'] as const;

/** Whether a sample of this type can be made. */
export function hasSample(type: string): boolean {
  return SAMPLE_TYPES.includes(type) || familyOf(type) !== undefined;
}

/** A made-up delivery of this type, as the service would send it at this time (milliseconds since the epoch). */
export function sampleDelivery(type: string, now: number): Delivery {
  const at = new Date(now).toISOString();
  return {
    event: {
      id: randomUUID(),
      type,
      timestamp: at,
      tenant_id: randomUUID(),
      trace_id: randomUUID(),
      data: dataOf(type),
    },
    delivered_at: at,
  };
}

function dataOf(type: string): unknown {
  const family = familyOf(type);
  // Not described anywhere: an id is the least that any of them can hold.
  if (family !== undefined) return { [family === 'tenant.' ? 'tenant' : 'session']: { id: randomUUID() } };
  const word = type.slice(type.lastIndexOf('.') + 1);
  return { job: { id: randomUUID(), status: word === 'created' ? 'pending' : word } };
}

function familyOf(type: string): (typeof SEEN_FAMILIES)[number] | undefined {
  return SEEN_FAMILIES.find(
    (family) => type.startsWith(family) && /^[a-z][a-z._-]{0,60}$/.test(type.slice(family.length)),
  );
}
