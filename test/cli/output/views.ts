import type { Renderer, View } from '../../../src/cli/output/view.ts';

/** A view like that of a log entry, with one column of every kind. */
export const entryView: View = {
  name: 'log entry',
  fields: ['id', 'created_at', 'operation', 'entity.id', 'entity.type', 'message', 'count', 'settings.*', 'upload_url'],
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'created_at', header: 'time', kind: 'time', priority: 2 },
    { path: 'operation', kind: 'status', priority: 3, paint: (value) => (value === 'delete' ? 'bad' : undefined) },
    { path: 'message', kind: 'text' },
    { path: 'count', kind: 'number', priority: 1 },
  ],
  secret: ['upload_url', 'parts.upload_url'],
};

/** Returns the whole text of a list that is rendered batch by batch. */
export async function listText<T>(renderer: Renderer<T>, ...batches: readonly (readonly T[])[]): Promise<string> {
  let text = renderer.begin?.() ?? '';
  for (const batch of batches) text += await renderer.rows(batch);
  return text + ((await renderer.end?.()) ?? '');
}
