// Makes the npm package in .cache/release, with its bill of materials and third-party notices beside it: npm run release
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { origin } from './origin.mjs';
import { built, cache, run, writeSums } from './release.mjs';
import { billOfMaterials } from './sbom.mjs';

const { values } = parseArgs({ options: { out: { type: 'string', default: cache } } });
const release = resolve(values.out);
const name = `${manifest.name}-${manifest.version}`;

mkdirSync(release, { recursive: true });
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', release], {
  shell: process.platform === 'win32',
});
writeFileSync(join(release, `${name}.cdx.json`), billOfMaterials());
copyFileSync(join(built, 'THIRD-PARTY-NOTICES.txt'), join(release, 'THIRD-PARTY-NOTICES.txt'));
writeSums(release);
console.log(`${name}.tgz\nAll files are in ${release}.`);
for (const missing of origin().missing) console.log(`Missing before anything is published: ${missing}`);
