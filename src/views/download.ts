import type { View } from '../render/view.ts';

/** A result file that was downloaded. */
export interface Downloaded {
  readonly job: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** How a download is shown. */
export const downloadView: View<Downloaded> = {
  name: 'download',
  fields: ['job', 'file', 'bytes', 'sha256'],
  columns: [
    { path: 'job', kind: 'id' },
    { path: 'file', kind: 'text' },
    { path: 'bytes', kind: 'number' },
    { path: 'sha256', kind: 'id' },
  ],
};
