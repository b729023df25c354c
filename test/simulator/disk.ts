import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Gzip } from 'node:zlib';
import { type Actor, actor, Killed } from './context.ts';
import type { Call, Replacements } from './replacements.ts';

/** Calls that change what a later process finds. A process may be killed before or after each. */
const CHANGES =
  'appendFile chmod copyFile fchmod ftruncate link mkdir rename rm rmdir symlink truncate unlink utimes write writeFile writev';

/** Calls that a dead process cannot make either. */
const READS = 'access exists fstat lstat open opendir read readFile readdir readlink realpath stat';

/** A killed process loses nothing that it wrote, and nothing is gained by waiting for a real disk. */
const FLUSHES = 'fsync fdatasync sync datasync';

/** Puts crashes between the processes of worlds and the disk, for code that runs in a world alone. */
export async function guardDisk(replacements: Replacements): Promise<void> {
  const handle = await open(tmpdir(), 'r');
  const handles = Object.getPrototypeOf(handle) as object;
  await handle.close();
  const replace = (holder: object, names: string, make: (real: Call) => Call, ending = ''): void => {
    for (const name of names.split(' ')) replacements.replace(holder, `${name}${ending}`, make);
  };
  replace(fs, CHANGES, changeSync, 'Sync');
  replace(fs, READS, readSync, 'Sync');
  replace(fs, FLUSHES, flushSync, 'Sync');
  for (const holder of [fs.promises, handles]) {
    replace(holder, CHANGES, changeLater);
    replace(holder, READS, readLater);
    replace(holder, FLUSHES, flushLater);
  }
  const zlib = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype)) as object;
  replace(zlib, '_transform', calledBack);
  // Streams of files work with these.
  replace(fs, 'open read write writev close', calledBack);
}

function changeSync(real: Call): Call {
  return function (...values) {
    const who = actor();
    who?.time.stir();
    const fate = who?.process?.step('disk');
    const result = Reflect.apply(real, this, values);
    if (fate === 'die') dieNow(who);
    return result;
  };
}

function readSync(real: Call): Call {
  return function (...values) {
    if (actor()?.process?.isDead) throw new Killed();
    return Reflect.apply(real, this, values);
  };
}

function flushSync(real: Call): Call {
  return function (...values) {
    const who = actor();
    if (who === undefined) return Reflect.apply(real, this, values);
    who.process?.step('disk');
    return undefined;
  };
}

function changeLater(real: Call): Call {
  return async function (...values) {
    const who = actor();
    const fate = who?.process?.step('disk');
    const result = await hold(who, Reflect.apply(real, this, values));
    if (fate === 'die') dieNow(who);
    return result;
  };
}

function readLater(real: Call): Call {
  return async function (...values) {
    const who = actor();
    if (who?.process?.isDead) throw new Killed();
    return hold(who, Reflect.apply(real, this, values));
  };
}

function flushLater(real: Call): Call {
  const flush = flushSync(real);
  return async function (...values) {
    return Reflect.apply(flush, this, values);
  };
}

function calledBack(real: Call): Call {
  return function (...values) {
    const [who, done] = [actor(), values.at(-1)];
    if (who === undefined || typeof done !== 'function') return Reflect.apply(real, this, values);
    const release = who.time.hold();
    const finish = (...results: unknown[]): void => {
      release();
      Reflect.apply(done, undefined, results);
    };
    return Reflect.apply(real, this, [...values.slice(0, -1), finish]);
  };
}

/** Time stands still until the disk is done. */
function hold(who: Actor | undefined, work: unknown): unknown {
  return who === undefined ? work : who.time.during(Promise.resolve(work));
}

function dieNow(who: Actor | undefined): never {
  who?.process?.die();
  throw new Killed();
}
