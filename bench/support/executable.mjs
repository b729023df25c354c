// The standalone executable of this version and the Node that it was made of, if they were built here.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

const release = fileURLToPath(new URL('../../.cache/release', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const svc = join(release, `svc-${manifest.version}-${platform}`, 'svc');
const names = existsSync(svc) ? readdirSync(release) : [];
const nodes = names.filter((name) => /^node-[\d.]+-/.test(name) && name.endsWith(platform));

export const executable = nodes.length > 0 ? { svc, node: join(release, nodes.at(-1), 'bin/node') } : undefined;
