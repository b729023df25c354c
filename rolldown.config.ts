import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';
import { embeddedJq, jqDirectory } from './embed-jq.config.ts';
import manifest from './package.json' with { type: 'json' };

const shared: RolldownOptions = {
  platform: 'node',
  transform: {
    target: 'node20.19',
    define: { SVC_VERSION: JSON.stringify(manifest.version) },
  },
  onLog(level, log, handle) {
    handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
  },
};

/**
 * The command line is CommonJS with every dependency inside, split where the source imports dynamically: on Node 20
 * the ESM loader alone costs a start 4 ms of 22, and on later ones importing node:http as ESM costs 30 ms more.
 */
const commandLine: RolldownOptions = {
  ...shared,
  input: { svc: 'src/process.ts' },
  plugins: [embeddedJq(), commanderWithoutChildProcess(), undiciWithoutHttp2(), thirdPartyNotices()],
  output: {
    dir: 'dist/cli',
    format: 'cjs',
    cleanDir: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
    // A stack in a bug report should name our functions.
    keepNames: true,
  },
};

/** The library leaves its dependencies to the package manager of whoever imports it. */
const library: RolldownOptions = {
  ...shared,
  input: { index: 'src/index.ts' },
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  output: {
    dir: 'dist/library',
    format: 'esm',
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
  },
};

export default defineConfig([commandLine, library]);

/** Commander loads child_process for subcommands that are programs of their own: we have none, and it costs 2 ms. */
function commanderWithoutChildProcess(): Plugin {
  const needed = "require('node:child_process')";
  return {
    name: 'commander-without-child-process',
    transform: {
      filter: { id: /commander[\\/]lib[\\/]command\.js$/ },
      handler(code) {
        if (!code.includes(needed))
          throw new Error(`commander no longer says ${needed}: mend or drop this plugin`);
        return code.replace(needed, '{}');
      },
    },
  };
}

/** undici loads http2 for servers that speak it: the core never asks for that, and loading it costs 8 ms. */
function undiciWithoutHttp2(): Plugin {
  const needed = "http2 = require('node:http2')";
  return {
    name: 'undici-without-http2',
    transform: {
      filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ },
      handler(code) {
        if (!code.includes(needed))
          throw new Error(`undici no longer says ${needed}: mend or drop this plugin`);
        return code.replace(needed, 'http2 = { constants: {} }');
      },
    },
  };
}

/** Writes THIRD-PARTY-NOTICES.txt: the licences of the packages inside the bundle ask to go where their code goes. */
function thirdPartyNotices(): Plugin {
  return {
    name: 'third-party-notices',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const packages = new Set(
        modules.flatMap((id) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []),
      );
      packages.add(jqDirectory().replace(/[\\/]$/, ''));
      const source = [...packages].toSorted().map(notice).join('\n\n');
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-NOTICES.txt', source });
    },
  };
}

function notice(directory: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const text = readdirSync(directory).find((file) => /^licen[cs]e/i.test(file));
  const terms = text === undefined ? '' : `\n\n${readFileSync(join(directory, text), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})${terms}`;
}
