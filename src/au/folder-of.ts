import { sha256Of } from '../base/files/draft.ts';

/** Returns the name of the folder of an id that the service gave, which may be no safe name of a folder. */
export function folderOf(id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(id) ? id : `id-${sha256Of(id).slice(0, 16)}`;
}
