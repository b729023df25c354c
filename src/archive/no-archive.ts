import { SvcError } from '../errors.ts';
import { MANIFEST } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** The failure of a place where no archive can be read: none is there, or its manifest is gone. */
export async function noArchive(store: ArchiveStore): Promise<SvcError> {
  for await (const { path } of store.list('tenant=')) {
    return new SvcError('altered', `the manifest of the archive at ${store.name} is gone`, {
      hint: `Bring ${MANIFEST} back from a copy: without it nobody can tell whether ${path} is as it was written.`,
    });
  }
  return new SvcError('not_found', `there is no log archive at ${store.name}`, {
    hint: "Name the place that 'svc logs archive' was given.",
  });
}
