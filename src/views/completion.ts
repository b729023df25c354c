import type { View } from '../render/view.ts';

/** What installing completions did. */
export interface CompletionInstall {
  readonly shell: string;
  /** Null for a shell that has no place of its own for completions. */
  readonly file: string | null;
  readonly status: 'written' | 'unchanged' | 'would be written' | 'nothing to write';
  /** What is left to do. */
  readonly next: string;
}

/** How it is shown. */
export const completionInstallView: View<CompletionInstall> = {
  name: 'installation',
  fields: ['shell', 'file', 'status', 'next'],
  columns: [
    { path: 'shell', kind: 'id' },
    { path: 'file', kind: 'id' },
    { path: 'status', kind: 'status' },
    { path: 'next', kind: 'text' },
  ],
};
