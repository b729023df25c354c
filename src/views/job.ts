import type { Tone, View } from '../render/view.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';

/** How Account Updater jobs are shown. Both addresses are secrets. */
export const jobView: View<AccountUpdaterJob> = {
  name: 'job',
  fields: [
    'id',
    'tenant_id',
    'status',
    'created_by',
    'created_at',
    'expires_at',
    'upload_url',
    'errors',
    'download_url',
  ],
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', paint: statusTone },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};

function statusTone(status: unknown): Tone | undefined {
  if (status === 'completed') return 'good';
  if (status === 'failed') return 'bad';
  return status === 'pending' ? 'quiet' : undefined;
}
