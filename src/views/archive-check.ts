import type { View } from '../render/view.ts';

/**
 * A line of what `svc logs verify` finds: something wrong, a stretch of time that is covered or that is not, and in
 * the end the archive as a whole. Every row has the same members; those that do not apply are null.
 */
export interface ArchiveCheckRow {
  readonly kind: 'finding' | 'covered' | 'gap' | 'archive';
  readonly problem: string | null;
  readonly path: string | null;
  readonly message: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly records: number | null;
  readonly segments: number | null;
  readonly entries: number | null;
  readonly bytes: number | null;
  /** Of the newest record: it stands for all that was written. */
  readonly sha256: string | null;
}

/** How the rows are shown; a table shows only those of findings. */
export const archiveCheckView: View<ArchiveCheckRow> = {
  name: 'row of a verification',
  fields: [
    'kind',
    'problem',
    'path',
    'message',
    'from',
    'to',
    'records',
    'segments',
    'entries',
    'bytes',
    'sha256',
  ],
  columns: [
    { path: 'problem', kind: 'text', paint: () => 'bad' },
    { path: 'path', kind: 'id' },
    { path: 'message', kind: 'text' },
  ],
};

/** A row with nothing but its kind and its words. */
export function checkRow(
  kind: ArchiveCheckRow['kind'],
  message: string,
  more: Partial<ArchiveCheckRow> = {},
): ArchiveCheckRow {
  return {
    kind,
    problem: null,
    path: null,
    message,
    from: null,
    to: null,
    records: null,
    segments: null,
    entries: null,
    bytes: null,
    sha256: null,
    ...more,
  };
}
