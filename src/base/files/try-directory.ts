import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SvcError, systemCodeOf } from '../errors.ts';
import { writeFileAtomicSync } from './draft.ts';
import { syncDirectory, writeFlushed } from './durable.ts';
import { linkIfFree, NO_LINKS } from './target.ts';

/**
 * Tests whether svc can keep its files in a directory: flushing, exclusive creation, replacing a file and hard links. Uses a
 * temporary folder. Returns whether the file system has hard links.
 * @throws SvcError `config` for a file system with a wrong result; the system's error for a call that the system refuses
 */
export function tryDirectory(directory: string): boolean {
  const folder = path.join(directory, `.svc-doctor-${randomBytes(8).toString('hex')}`);
  fs.mkdirSync(folder, { mode: 0o700 });
  try {
    const [first, second, name] = ['first', 'second', 'name'].map((each) => path.join(folder, each)) as [
      string,
      string,
      string,
    ];
    writeFlushed(first, 'first');
    writeFlushed(second, 'second');
    if (isCreatedAgain(first)) throw brokenRule(directory, 'creates a file that exists once more');
    const hasLinks = isLinked(first, name);
    if (hasLinks && linkIfFree(second, name)) throw brokenRule(directory, 'gives a name that is taken to another file');
    writeFileAtomicSync(name, 'replaced');
    if (fs.readFileSync(name, 'utf8') !== 'replaced')
      throw brokenRule(directory, 'does not show a file that was replaced');
    syncDirectory(folder);
    return hasLinks;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function isCreatedAgain(file: string): boolean {
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Links a file. Without hard links, copies the file, as a lock does, and returns false. */
function isLinked(from: string, to: string): boolean {
  try {
    return linkIfFree(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
    fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL);
    return false;
  }
}

function brokenRule(directory: string, what: string): SvcError {
  return new SvcError('config', `the file system of ${directory} ${what}`, {
    hint: 'Choose a directory on another file system.',
  });
}
