import { writeFileAtomic } from '../atomic-file.ts';
import type { Version } from './version.ts';
import { readRegularFileSync } from '../regular-file.ts';

/** Notes of which version a partial file is the beginning; 0600, whole or not at all. */
export async function writeNote(file: string, version: Version): Promise<void> {
  await writeFileAtomic(file, JSON.stringify({ format: 1, ...version }));
}

/** The version that was noted; undefined where there is no note, or none that makes sense. */
export function readNote(file: string): Version | undefined {
  try {
    const note: unknown = JSON.parse(readRegularFileSync(file));
    if (typeof note !== 'object' || note === null) return undefined;
    const { format, etag, total }: { format?: unknown; etag?: unknown; total?: unknown } = note;
    const isValid = format === 1 && typeof etag === 'string' && Number.isSafeInteger(total);
    return isValid && typeof total === 'number' ? { etag, total } : undefined;
  } catch {
    return undefined;
  }
}
