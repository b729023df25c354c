import type { View } from '../render/view.ts';

/** What a value of a 3DS answer stands for. */
export interface MeaningRow {
  readonly kind: string;
  readonly name: string;
  readonly code?: string | undefined;
  readonly means: string;
  readonly liability?: string | undefined;
  readonly next: string;
}

/** How meanings are shown. */
export const meaningView: View<MeaningRow> = {
  name: 'meaning',
  fields: ['kind', 'name', 'code', 'means', 'liability', 'next'],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'code', kind: 'id' },
    { path: 'kind', kind: 'text', priority: 1 },
    { path: 'means', kind: 'text', priority: 2 },
  ],
};
