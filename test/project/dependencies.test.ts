import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };

const project = fileURLToPath(new URL('../../', import.meta.url));

interface Locked {
  readonly version: string;
  readonly license: string;
  readonly integrity: string;
}

interface Inside extends Locked {
  readonly path: string;
  readonly name: string;
}

/** The members of a component in a bill of materials that the tests read. */
interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly 'bom-ref': string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface Bill {
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const inside = packagesInside();

it('the packages inside are listed with their version, licence, size and reason, and no others', () => {
  const rows = [...readFileSync(join(project, 'docs/dependencies.md'), 'utf8').matchAll(/^\| (\S+ \d.*) \|$/gm)];
  const listed = rows.map(([, row = '']) => row.split(' | '));
  expect(listed.map(([name, licence, size]) => [name, licence, size].join(' | ')).toSorted()).toEqual(
    inside.map(({ path, name, version, license }) => `${name} ${version} | ${license} | ${kilobytesOf(path)}`),
  );
  expect(listed.filter(([, , , reason = '']) => reason.length < 5)).toEqual([]);
});

it('the packages inside are those of the lockfile, under licences that ask for nothing but their text', () => {
  expect(new Set(inside.map(({ license }) => license))).toEqual(new Set(['BSD-3-Clause', 'ISC', 'MIT']));
  const direct = inside.filter(({ path, name }) => path === `node_modules/${name}` && name in allDirect());
  expect(direct.map(({ name, version }) => [name, version])).toEqual(
    direct.map(({ name }) => [name, allDirect()[name]]),
  );
  expect(inside.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
});

it('the packages inside are in the bill of materials with their hashes, the same at each call', async () => {
  process.env['SOURCE_DATE_EPOCH'] ??= '1700000000';
  const path = join(project, 'build/release/sbom.mjs');
  const { billOfMaterials } = (await import(path)) as { billOfMaterials: (node?: string) => string };
  const bill = JSON.parse(billOfMaterials()) as Bill;
  expect(billOfMaterials()).toBe(billOfMaterials());
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Date(bill.metadata.timestamp).toISOString()).toBe(bill.metadata.timestamp);
  const told = bill.components.map(({ name, version, hashes: [hash] = [] }) => {
    const sum = Buffer.from(hash?.content ?? '', 'hex').toString('base64');
    return `${name} ${version} sha512-${sum}`;
  });
  expect(told.toSorted()).toEqual(inside.map(({ name, version, integrity }) => `${name} ${version} ${integrity}`));
  expect(bill.dependencies).toEqual([
    { ref: bill.metadata.component.purl, dependsOn: bill.components.map((component) => component['bom-ref']) },
  ]);
  const { components } = JSON.parse(billOfMaterials('26.0.0')) as Bill;
  expect(components.at(-1)).toMatchObject({ type: 'platform', name: 'node', version: '26.0.0' });
});

/** Returns the packages that the build lists, with their entries in the lockfile. */
function packagesInside(): Inside[] {
  const notices = readFileSync(join(project, 'dist/cli/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const wanted = new Set([...notices.matchAll(/^(\S+ \d+\.\d+\.\d+) \(.+\)$/gm)].map(([, name = '']) => name));
  return [...wanted].toSorted().map((each) => {
    const [name = '', version] = each.split(' ');
    const packages = Object.entries(lock.packages) as [string, Locked][];
    const [path, entry] = packages.find(([key, { version: locked }]) => nameOf(key) === name && locked === version)!;
    return { path, name, version: entry.version, license: entry.license, integrity: entry.integrity };
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function allDirect(): Readonly<Record<string, string>> {
  return { ...manifest.dependencies, ...manifest.devDependencies };
}

/** Returns the size of a package on disk in kB, without the packages nested in it. */
function kilobytesOf(path: string): number {
  const names = readdirSync(join(project, path), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => !name.split(/[\\/]/).includes('node_modules'));
  const stats = files.map((name) => statSync(join(project, path, name))).filter((stat) => stat.isFile());
  return Math.ceil(stats.reduce((sum, { size }) => sum + size, 0) / 1000);
}
