import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import type { StoredFile } from '../../../src/client/store/store.ts';
import { findLost, type LostFiles, LostFilesWatch } from '../../../src/logs/archive/missing.ts';
import { ARCHIVE, filesNamedBy, type Link, recordPath } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { filesLost } from '../../../src/logs/commands/archive.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, filesIn, openStore, TENANT } from './build.ts';

const START = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function day(number: number) {
  const log: Log = { tenant_id: TENANT, message: 'entry', created_at: new Date(START + number * DAY).toISOString() };
  return { to: START + number * DAY + HOUR, entries: [log] };
}

const { signal } = new AbortController();
const DAYS = [0, 10, 35, 50].map(day);

/** A store that acts as a bucket and records the listed prefixes. */
class RemoteStore extends DirectoryStore {
  override readonly isRemote = true;
  readonly listed: string[] = [];

  override async *list(prefix: string, after?: string): AsyncGenerator<StoredFile> {
    for await (const file of super.list(prefix, after)) {
      this.listed.push(file.path);
      yield file;
    }
  }
}

/** A directory whose January retention drops when its files are first listed. */
class DroppingStore extends DirectoryStore {
  #last: Link | undefined;

  constructor(top: string, last: Link) {
    super(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal }, ARCHIVE);
    this.#last = last;
  }

  override async *list(prefix: string, after?: string): AsyncGenerator<StoredFile> {
    const last = this.#last;
    this.#last = undefined;
    if (last) await this.lock(() => drop(this, last));
    yield* super.list(prefix, after);
  }
}

async function drop(store: DirectoryStore, last: Link): Promise<void> {
  const writer = await ArchiveWriter.open(store, last, { tenantId: TENANT, now: () => START });
  const { paths } = await writer.drop({ end: START + 51 * DAY, months: 0 }, 'Ana');
  await writer.remove(paths);
}

function openRemote(top: string): RemoteStore {
  return new RemoteStore(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal }, ARCHIVE);
}

describe('the search for lost files', () => {
  it('R76: the search names each recorded file that is gone from the directory', async () => {
    const { top, store } = await buildArchive(START, DAYS);
    expect(await findLost(store)).toEqual({ missing: [], changed: [] });
    const lost = filesIn(top).filter((file) => file.startsWith('tenant='));
    for (const file of lost) fs.rmSync(path.join(top, file));
    expect((await findLost(store)).missing.toSorted()).toEqual(lost);
  });

  it('R76: the search finds a file of another size, a missing record, and a record that is not a regular file', async () => {
    const { top, store } = await buildArchive(START, DAYS);
    const [first = '', second = ''] = filesIn(top).filter((file) => file.startsWith('tenant='));
    fs.appendFileSync(path.join(top, first), 'x');
    fs.rmSync(path.join(top, second));
    fs.mkdirSync(path.join(top, second));
    expect(await findLost(store)).toEqual({ missing: [second], changed: [first] });
    fs.rmSync(path.join(top, recordPath(2)));
    expect(await findLost(store)).toEqual({ missing: [recordPath(2)], changed: [] });
  });

  it('R76: the search names the record that was changed, and not the one after it', async () => {
    const { top, store, links } = await buildArchive(START, DAYS);
    const newest = links.length - 1;
    for (const sequence of [0, newest - 1]) {
      const file = path.join(top, recordPath(sequence));
      const text = fs.readFileSync(file, 'utf8');
      fs.writeFileSync(file, JSON.stringify(JSON.parse(text), null, 4));
      expect(await findLost(store)).toEqual({ missing: [], changed: [recordPath(sequence)] });
      fs.writeFileSync(file, text);
    }
    const last = path.join(top, recordPath(newest));
    const text = fs.readFileSync(last, 'utf8');
    fs.writeFileSync(last, text.replace(/"previous":"../, '"previous":"zz'));
    fs.rmSync(path.join(top, '_manifest/head.json'));
    expect(await findLost(store)).toEqual({ missing: [], changed: [recordPath(newest)] });
  });

  it('R76: the search finds a missing position, and a link in place of a file', async () => {
    const { top, store, links } = await buildArchive(START, [{ ...day(0), passed: 30 }]);
    const { side, segments } = filesNamedBy(links.at(-1)!.record);
    expect(side).toHaveLength(1);
    for (const file of side) fs.rmSync(path.join(top, file.path));
    const [{ path: segment } = { path: '' }] = segments;
    const { size } = fs.statSync(path.join(top, segment));
    fs.rmSync(path.join(top, segment));
    fs.symlinkSync('x'.repeat(size), path.join(top, segment));
    expect(await findLost(store)).toEqual({ missing: side.map((file) => file.path), changed: [segment] });
  });

  it('R76: the search misses no file that retention drops meanwhile', async () => {
    const { top, links } = await buildArchive(START, DAYS);
    const store = new DroppingStore(top, links.at(-1)!);
    expect(await findLost(store)).toEqual({ missing: [], changed: [] });
    expect(filesIn(top).filter((file) => file.startsWith('tenant='))).toHaveLength(2);
  });

  it('the error for lost files counts all, and names at most ten of each kind', () => {
    const lost = Array.from({ length: 12 }, (_, at) => `tenant=${TENANT}/${at}`);
    const error = filesLost('archive', { missing: lost, changed: lost });
    expect(error.message).toBe(`archive: 12 files are missing, 12 files are changed: ${lost[0]} …`);
    expect(error.facts).toEqual({ missing_files: lost.slice(0, 10), changed_files: lost.slice(0, 10) });
  });

  it('R76: the search lists only the newest 30 days of a bucket', async () => {
    const { top } = await buildArchive(START, DAYS);
    const store = openRemote(top);
    const [old = '', , young = ''] = filesIn(top).filter((file) => file.startsWith('tenant='));
    fs.rmSync(path.join(top, old));
    expect(await findLost(store)).toEqual({ missing: [], changed: [] });
    expect(
      store.listed.filter((file) => file.startsWith('tenant=')).map((file) => /date=([^/]+)/.exec(file)?.[1]),
    ).toEqual(['2026-02-09', '2026-02-24']);
    fs.rmSync(path.join(top, young));
    expect((await findLost(store)).missing).toEqual([young]);
  });

  it('following an archive searches at most once an hour, and reports only changes', async () => {
    const { top } = await buildArchive(START, DAYS);
    const reported: LostFiles[] = [];
    const watch = new LostFilesWatch(openStore(top), {
      onChange: (lost) => reported.push(lost),
      restore: async () => [],
    });
    await watch.lookIfDue(START);
    const file = filesIn(top).find((each) => each.startsWith('tenant=')) ?? '';
    const bytes = fs.readFileSync(path.join(top, file));
    fs.rmSync(path.join(top, file));
    await watch.lookIfDue(START + HOUR - 1);
    expect(reported).toEqual([]);
    await watch.lookIfDue(START + HOUR);
    await watch.lookIfDue(START + 2 * HOUR);
    expect(reported).toEqual([{ missing: [file], changed: [] }]);
    fs.mkdirSync(path.dirname(path.join(top, file)), { recursive: true });
    fs.writeFileSync(path.join(top, file), bytes);
    await watch.lookIfDue(START + 3 * HOUR);
    expect(reported.at(-1)).toEqual({ missing: [], changed: [] });
  });
});
