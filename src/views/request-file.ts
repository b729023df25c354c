import type { RequestFileCheck } from '../csv/request-file.ts';
import type { View } from '../render/view.ts';

/** What is known of a request file that was checked. */
export interface CheckedFileRow {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Rows that repeat the token of a row above. */
  readonly repeated_tokens: number;
  /** How many jobs it takes. */
  readonly jobs: number;
}

/** How a checked request file is shown. */
export const checkedFileView: View<CheckedFileRow> = {
  name: 'request file',
  fields: ['file', 'rows', 'bytes', 'sha256', 'repeated_tokens', 'jobs'],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    { path: 'bytes', kind: 'number' },
    { path: 'sha256', kind: 'id' },
    { path: 'repeated_tokens', kind: 'number' },
    { path: 'jobs', kind: 'number' },
  ],
};

/** A checked file as it is shown. */
export function checkedFileRow(name: string, check: RequestFileCheck): CheckedFileRow {
  return {
    file: name,
    rows: check.rows,
    bytes: check.bytes,
    sha256: check.sha256,
    repeated_tokens: check.duplicates.count,
    jobs: check.parts.length,
  };
}
