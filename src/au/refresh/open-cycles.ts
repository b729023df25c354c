import fs from 'node:fs';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { RefreshDirectory } from './refresh-directory.ts';

/** Returns the cycles below a directory that have a request whose results are not reported, by name. */
export function openCycles(context: Context, parent: string): string[] {
  const directory = resolvePath(context, parent);
  const entries = fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.toSorted().filter((cycle) => {
    const found = new RefreshDirectory(context, parent, cycle);
    found.read();
    return found.requests.some(({ report_of: of }) => of === undefined);
  });
}
