import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Gzip } from 'node:zlib';
import { type Actor, actor, Killed, runAs } from './context.ts';
import type { Call, Replacements } from './replacements.ts';

/** Calls that change what a later process finds. A process may be killed before or after each. */
const CHANGES =
  'appendFile chmod copyFile fchmod ftruncate link mkdir rename rm rmdir symlink truncate unlink utimes write writeFile writev';

/** Calls at which a process is never killed, but which a dead process cannot make. */
const READS = 'access exists fstat lstat open opendir read readFile readdir readlink realpath stat';

/** Calls that flush. They never reach the real disk: a flush matters only when a world loses its power. */
const FLUSHES = 'fsync fdatasync sync datasync';

/** Makes processes of worlds crash at calls to the disk. Code outside a world is not affected. */
export async function guardDisk(replacements: Replacements): Promise<void> {
  const handle = await open(tmpdir(), 'r');
  const handles = Object.getPrototypeOf(handle) as object;
  await handle.close();
  const replace = (holder: object, names: string, make: (real: Call, name: string) => Call, ending = ''): void => {
    for (const name of names.split(' ')) replacements.replace(holder, `${name}${ending}`, (real) => make(real, name));
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
  // File streams use these functions.
  replace(fs, 'open read write writev close fsync', calledBack);
}

function changeSync(real: Call, name: string): Call {
  return function (...values) {
    const who = actor();
    who?.time.stir();
    const fate = who?.process?.step('disk', name);
    const done = noteBefore(who, name, this, values);
    const result = Reflect.apply(real, this, values);
    done?.(result);
    if (fate === 'die') dieNow(who);
    return result;
  };
}

function readSync(real: Call, name: string): Call {
  return function (...values) {
    const process = actor()?.process;
    if (process?.isDead) throw new Killed();
    const done = name === 'open' ? noteBefore(actor(), name, this, values) : undefined;
    const result = Reflect.apply(real, this, values);
    done?.(result);
    return result;
  };
}

function flushSync(real: Call): Call {
  return function (...values) {
    const who = actor();
    if (who === undefined) return Reflect.apply(real, this, values);
    const fate = who.process?.step('disk', 'flush');
    noteFlush(who, this, values);
    if (fate === 'die') dieNow(who);
    return undefined;
  };
}

function changeLater(real: Call, name: string): Call {
  return async function (...values) {
    const who = actor();
    const fate = who?.process?.step('disk', name);
    const done = noteBefore(who, name, this, values);
    const result = await hold(who, Reflect.apply(real, this, values));
    done?.(result);
    if (fate === 'die') dieNow(who);
    return result;
  };
}

function readLater(real: Call, name: string): Call {
  return async function (...values) {
    const who = actor();
    if (who?.process?.isDead) throw new Killed();
    const done = name === 'open' ? noteBefore(who, name, this, values) : undefined;
    const result = await hold(who, Reflect.apply(real, this, values));
    done?.(result);
    if (name === 'open') who?.process?.hasOpened(result as FileHandle);
    return result;
  };
}

function flushLater(real: Call): Call {
  const flush = flushSync(real);
  return async function (...values) {
    return Reflect.apply(flush, this, values);
  };
}

function calledBack(real: Call, name: string): Call {
  return function (...values) {
    const who = actor();
    const callback = values.at(-1);
    if (who === undefined || typeof callback !== 'function') return Reflect.apply(real, this, values);
    if (name === 'fsync') noteFlush(who, this, values);
    const done = ['open', 'write', 'writev'].includes(name) ? noteBefore(who, name, this, values) : undefined;
    const release = who.time.hold(name !== '_transform');
    const finish = (...results: unknown[]): void => {
      release();
      if (!results[0]) done?.(results[1]);
      Reflect.apply(callback, undefined, results);
    };
    return Reflect.apply(real, this, [...values.slice(0, -1), finish]);
  };
}

type Noted = ((result: unknown) => void) | undefined;

/** Notes what a loss of power would undo. It does so outside the world, where its own calls are no steps. */
function noteBefore(who: Actor | undefined, name: string, holder: unknown, values: readonly unknown[]): Noted {
  const disk = who?.process?.disk;
  if (disk === undefined) return undefined;
  const done = runAs(undefined, () => disk.before(name, holder, values));
  return (result) => runAs(undefined, () => done(result));
}

function noteFlush(who: Actor, holder: unknown, values: readonly unknown[]): void {
  runAs(undefined, () => who.process?.disk?.flushed(holder, values));
}

/** Stops the time of the world until the disk is done. */
function hold(who: Actor | undefined, work: unknown): unknown {
  return who === undefined ? work : who.time.during(Promise.resolve(work), true);
}

function dieNow(who: Actor | undefined): never {
  who?.process?.end();
  throw new Killed();
}
