import { SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { goodRows, isRejectsFile } from '../prepare/rejects-file.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';

/**
 * Checks that the files which are written with a request file may be replaced. Its kept columns must be those of the
 * refresh, and nobody may have corrected the refused rows, because no other file has them so.
 * @throws SvcError `config`
 */
export async function requireReplaceable(
  directory: RefreshDirectory,
  place: number,
  input: Pick<RefreshInput, 'how' | 'maxRejects' | 'again'>,
): Promise<void> {
  const { keep, rejects } = directory.filesOf(place);
  const { keep: columns = [] } = input.how;
  if (columns.length > 0 && directory.has(keep) && !directory.isOwn(keep)) throw directory.foreign(keep);
  if (input.maxRejects === undefined || !directory.has(rejects)) return;
  const written = directory.written(rejects);
  if (written.length > 0) {
    if (written.includes(await directory.hash(rejects))) return;
    throw corrected(rejects, `${rejects} was changed after the refresh wrote it`, input);
  }
  // Early versions did not record the file, and a kill may have come before the record.
  const path = directory.resolve(rejects);
  if (!(await isRejectsFile(path))) throw directory.foreign(rejects);
  const rows = await goodRows(path, input.how);
  if (rows > 0) throw corrected(rejects, `${rejects} has ${countText(rows, 'row')} in which nothing is wrong`, input);
}

function corrected(file: string, message: string, { again }: Pick<RefreshInput, 'again'>): SvcError {
  return new SvcError('config', message, {
    hint: 'Nothing was changed. Corrected rows may be in no other file: move it away, and run the same command again. Its rows can then be added as another export, with --add.',
    next: again,
    facts: { file },
  });
}
