import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseEntry } from '../../src/au/ledger/entry.ts';
import { ENTITY_TYPES, knownEntityTypes } from '../../src/cli/config/cache.ts';
import { parseConfig } from '../../src/cli/config/config-format.ts';
import { type DirectoryKind, directoryOf } from '../../src/cli/config/paths.ts';
import { statePaths } from '../../src/emulator/state/journal.ts';
import { KEPT_BELOW, KEPT_NAMES } from '../../src/general/kept-names.ts';
import { readRecords } from '../../src/logs/archive/records/chain.ts';
import { DirectoryStore } from '../../src/client/store/directory-store.ts';
import { ARCHIVE, parseRecord as parseArchiveRecord } from '../../src/logs/archive/records/record.ts';
import { parseCheckpoint } from '../../src/logs/tail/checkpoint.ts';
import { testSystem } from '../cli/config/support/system.ts';
import { temporaryDirectory } from '../support/directory.ts';

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');

/** The rows of the table of formats that have a version. */
const rows = [...read('docs/upgrading.md').matchAll(/^\| (.+?) +\| (\d+)\b/gm)].map(([, file = '', version]) => ({
  file,
  version: Number(version),
}));

/** The parser of each kind of file that svc refuses when a newer version wrote it. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  '`config.json`: profiles and keys': (text) => parseConfig(text, 'file'),
  'entry of a ledger': (text) => parseEntry(Buffer.from(text), 'file'),
  'checkpoint of `logs tail`': (text) => parseCheckpoint('file', text, {} as never),
  'record of a segment in an archive': (text) => parseArchiveRecord(text, 'file'),
};

describe('the formats of files', () => {
  it.each(Object.entries(READERS))('%s: the version of the docs is the newest that is read', (file, parse) => {
    const { version = 0 } = rows.find((row) => row.file === file) ?? {};
    const newer = /was written by a newer svc \(its version is \d+\)/;
    expect(() => parse(JSON.stringify({ version: version + 1 }))).toThrow(newer);
    expect(() => parse(JSON.stringify({ version }))).not.toThrow(newer);
  });

  it('the head of an archive: a newer one is refused', async () => {
    const place = temporaryDirectory();
    mkdirSync(join(place, '_manifest'));
    writeFileSync(join(place, '_manifest/head.json'), JSON.stringify({ version: 2, sequence: 0, sha256: 'x' }));
    const records = readRecords(new DirectoryStore(place, testSystem({}), ARCHIVE));
    await expect(records.next()).rejects.toMatchObject({ code: 'config', hint: 'Update svc on this machine.' });
  });

  it('a cache that a newer svc wrote is ignored', () => {
    const home = temporaryDirectory();
    const system = testSystem({ home });
    const file = join(directoryOf(system, 'cache') ?? '', 'entity-types.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ version: 2, services: [{ types: 1 }], more: true }));
    expect([...knownEntityTypes(system).keys()]).toEqual(ENTITY_TYPES);
  });
});

it('a reset knows the name of each file of a sandbox', () => {
  const { directory, ...files } = statePaths('/sandbox');
  for (const file of Object.values(files))
    expect(file.slice(directory.length + 1)).toMatch(KEPT_BELOW['sandbox'] ?? '');
});

describe('svc help security', () => {
  const text = read('docs/help/security.md').replaceAll(/\n {2}/g, ' ');

  it.each(['config', 'state', 'cache'] as const)(
    'svc help security names the %s directory of each system, as the code finds it',
    (kind) => {
      const line = text.split('\n').find((one) => one.startsWith(`- **${kind} (SVC_${kind.toUpperCase()}_DIR)**`));
      expect(line).toContain(`Linux: \`${placeOf('linux', kind)}\`; macOS: \`${placeOf('darwin', kind)}\``);
      expect(line).toContain(`Windows: \`${placeOf('win32', kind)}\``);
    },
  );

  it('upgrading.md names a file of each kind that svc keeps', () => {
    const names = ['config.json', 'applications.json', 'entity-types.json', 'known-keys.json'];
    for (const name of names) {
      expect(read('docs/upgrading.md')).toContain(`\`${name}\``);
      expect(Object.values(KEPT_NAMES).some((kept) => kept.test(name))).toBe(true);
    }
  });
});

/** Returns the default directory of a kind, with the home directory as people write it. */
function placeOf(platform: NodeJS.Platform, kind: DirectoryKind): string {
  const env = platform === 'win32' ? { APPDATA: 'C:\\A', LOCALAPPDATA: 'C:\\L' } : {};
  const place = directoryOf(testSystem({ platform, env, home: '/home/ann' }), kind) ?? '';
  return place.replace('/home/ann', '~').replace('C:\\A', '%APPDATA%').replace('C:\\L', '%LOCALAPPDATA%');
}
