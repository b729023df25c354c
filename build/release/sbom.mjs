// A bill of materials in CycloneDX's JSON: every package whose code is inside, with its license and its hash.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { origin } from './origin.mjs';
import { built, sourceDate } from './release.mjs';

/** Returns the bill of the npm package, or of an executable with this version of Node. Equal input gives equal text. */
export function billOfMaterials(nodeVersion) {
  const components = bundledPackages().map(library);
  if (nodeVersion !== undefined) components.push(nodeItself(nodeVersion));
  const root = `pkg:npm/${manifest.name}@${manifest.version}`;
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(Number(sourceDate()) * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': root,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: [{ license: { id: manifest.license } }],
        purl: root,
        externalReferences: references(),
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((component) => component['bom-ref']) }],
  };
  return `${JSON.stringify({ ...bill, serialNumber: `urn:uuid:${nameBasedId(JSON.stringify(bill))}` }, undefined, 2)}\n`;
}

/** Returns where the project is, as CycloneDX names it; undefined until package.json names the repository. */
function references() {
  const { repository, homepage, bugs } = origin();
  const found = Object.entries({ vcs: repository, website: homepage, 'issue-tracker': bugs });
  const known = found.filter(([, url]) => url !== undefined).map(([type, url]) => ({ type, url }));
  return known.length === 0 ? undefined : known;
}

/** Returns the names and versions of the bundled packages, which the build lists with their licenses. */
export function bundledPackages() {
  const notices = readFileSync(join(built, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  const found = [...notices.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d+\.\d+\.\d+\S*) \(.+\)$/gm)];
  const known = new Map(found.map(([, name, version]) => [`${name}@${version}`, { name, version }]));
  return [...known.values()];
}

/** Returns the lockfile's entry for a package of this version. */
export function lockedPackage({ name, version }) {
  const [path, entry] =
    Object.entries(lock.packages).find(
      ([each, { version: locked }]) => each.endsWith(`node_modules/${name}`) && locked === version,
    ) ?? [];
  if (entry === undefined) throw new Error(`${name} ${version} is in dist, but not in package-lock.json: build again`);
  return { path, ...entry };
}

function library({ name, version }) {
  const { integrity, license } = lockedPackage({ name, version });
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [algorithm, sum] = integrity.split('-');
  const hash = {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(sum, 'base64').toString('hex'),
  };
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    hashes: [hash],
    licenses: [{ license: { id: license } }],
    purl,
  };
}

function nodeItself(version) {
  const purl = `pkg:generic/node@${version}`;
  return { type: 'platform', 'bom-ref': purl, name: 'node', version, licenses: [{ license: { id: 'MIT' } }], purl };
}

function nameBasedId(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
