import type { WebhookDelivery } from '../../schema/event.ts';
import { tenantId } from '../seed/entities.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import { jobStatus } from '../state/job-status.ts';
import type { Job, World } from '../state/world.ts';
import { isoTime } from '../time.ts';

/** Something that webhooks hear of. The same one has the same id in every process. */
export interface Occurrence {
  readonly at: number;
  readonly event: WebhookDelivery['event'];
}

/** What has happened by now, oldest first within each kind. */
export function occurrences(world: World, now: number): Occurrence[] {
  const { tenantChanges, deleted, jobs } = world;
  return [
    ...jobs.flatMap((job) => jobOccurrences(world, job, now)),
    ...tenantChanges.map(({ at }, index) => tenantOccurrence(world, at, 'updated', index)),
    ...(deleted === undefined ? [] : [tenantOccurrence(world, deleted.at, 'deleted', 0)]),
  ];
}

const KINDS = { created: 1, completed: 2, failed: 3, updated: 4, deleted: 5 } as const;

interface Facts {
  readonly topic: 'account-updater.job' | 'tenant';
  readonly kind: keyof typeof KINDS;
  readonly at: number;
  /** Tells occurrences of one kind apart. */
  readonly number: number;
  readonly repeat?: number;
  readonly data: WebhookDelivery['event']['data'];
}

function jobOccurrences(world: World, job: Job, now: number): Occurrence[] {
  const { id, number, createdAt, upload, uploads } = job;
  const topic = 'account-updater.job';
  const data = (status: string): Facts['data'] => ({ job: { id, status } });
  const created = occurrence(world, { topic, kind: 'created', at: createdAt, number, data: data('pending') });
  const kind = jobStatus(job, now);
  if (upload === undefined || (kind !== 'completed' && kind !== 'failed')) return [created];
  const at = upload.at + upload.processing;
  return [created, occurrence(world, { topic, kind, at, number, repeat: uploads, data: data(kind) })];
}

function tenantOccurrence(world: World, at: number, kind: 'updated' | 'deleted', number: number): Occurrence {
  const data = { tenant: { id: tenantId(world.start.seed) } };
  return occurrence(world, { topic: 'tenant', kind, at, number, data });
}

// The time of the start is in the id: after a reset no old one comes back.
function occurrence({ start }: World, facts: Facts): Occurrence {
  const { topic, kind, at, number, repeat = 0, data } = facts;
  const begun = start.at % 2 ** 32;
  const place = KINDS[kind] * 2 ** 20 + repeat;
  const event = {
    id: uuidOf(start.seed, NAMESPACE.event, begun, place, number),
    type: `${topic}.${kind}`,
    timestamp: isoTime(at),
    tenant_id: tenantId(start.seed),
    trace_id: uuidOf(start.seed, NAMESPACE.trace, begun, place, number),
    data,
  };
  return { at, event };
}
