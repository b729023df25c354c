import type { View } from '../render/view.ts';

/** A body that breaks no rule. */
export interface CheckedBody {
  readonly file: string;
  readonly valid: true;
  readonly authentication_category: string;
  readonly authentication_type: string;
  /** The types of session that it can be sent to. */
  readonly session_types: readonly string[];
}

/** How a checked body is shown. */
export const checkedBodyView: View<CheckedBody> = {
  name: 'checked body',
  fields: ['file', 'valid', 'authentication_category', 'authentication_type', 'session_types'],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'valid', kind: 'status', paint: () => 'good' },
  ],
};
