import type { View } from '../render/view.ts';

/** What a run of the archive came to. Times are RFC 3339, UTC. */
export interface ArchiveSummary {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  /** Added by this run. */
  readonly entries: number;
  /** How many of them came late, and stand in supplementary segments. */
  readonly late: number;
  /** How many have no time that can be read, and stand under `date=unknown`. */
  readonly timeless: number;
  /** How many not every reader of JSON takes: they stand in `.raw.gz` files. */
  readonly raw: number;
  /** How many hold what looks like a card number. */
  readonly card_numbers: number;
  readonly segments: number;
  /** The stretch of time that this run brought the archive over. */
  readonly read_from: string;
  readonly read_to: string;
  /** Stretches found by this run of which entries may be missing. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
  /** Hours until entries not yet archived would have been forgotten; null for an archive that has just begun. */
  readonly hours_left_before: number | null;
  readonly hours_left: number;
  /** The newest record and its hash, which `svc logs verify --expect` takes. */
  readonly record: number;
  readonly sha256: string;
}

/** How such a summary is shown. */
export const archiveView: View<ArchiveSummary> = {
  name: 'archive run',
  fields: [
    'archive',
    'service',
    'tenant_id',
    'entries',
    'late',
    'timeless',
    'raw',
    'card_numbers',
    'segments',
    'read_from',
    'read_to',
    'gaps',
    'hours_left_before',
    'hours_left',
    'record',
    'sha256',
  ],
  columns: [
    { path: 'archive', kind: 'id' },
    { path: 'tenant_id', kind: 'id' },
    { path: 'entries', kind: 'number' },
    { path: 'late', kind: 'number' },
    { path: 'timeless', kind: 'number' },
    { path: 'raw', kind: 'number' },
    { path: 'card_numbers', kind: 'number' },
    { path: 'segments', kind: 'number' },
    { path: 'read_from', kind: 'time' },
    { path: 'read_to', kind: 'time' },
    { path: 'gaps', kind: 'text' },
    { path: 'hours_left_before', kind: 'number' },
    { path: 'hours_left', kind: 'number' },
    { path: 'record', kind: 'number' },
    { path: 'sha256', kind: 'id' },
  ],
};
