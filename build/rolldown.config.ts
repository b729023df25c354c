import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';
import { embeddedJq, jqDirectory } from './embed-jq.ts';
import { embeddedText } from './embed-text.ts';
import { lazyModules } from './lazy-modules.ts';
import groups from './loaded-together.json' with { type: 'json' };
import manifest from '../package.json' with { type: 'json' };

/** The name of the group of each module that has one. loaded-together.mjs finds the groups. */
const GROUP_OF = new Map(Object.entries(groups).flatMap(([name, files]) => files.map((file) => [file, name] as const)));

const PROJECT = fileURLToPath(new URL('../', import.meta.url));

const CHUNKS = [
  { name: (id: string) => GROUP_OF.get(moduleName(id)) ?? null },
  // Only machines without SIMD instructions use this parser.
  { name: 'parser', test: /llhttp-wasm[.]js$/ },
  // undici loads what builds bodies of forms only for a form, which svc never sends.
  { name: 'forms', test: /[\\/]undici[\\/]lib[\\/](?:web|encoding)[\\/]/ },
];

/** Returns the path of a module in the project, or the name of an alias. */
function moduleName(id: string): string {
  return id.replace(PROJECT, '').replace('\0', '').replaceAll('\\', '/');
}

const shared: RolldownOptions = {
  platform: 'node',
  // The CommonJS form of jsonc-parser requires its files by names that a bundler cannot follow.
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node20.19', define: { SVC_VERSION: JSON.stringify(manifest.version) } },
  // The times that plugins take differ from build to build.
  checks: { pluginTimings: false },
  onLog(level, log, handle) {
    // A warning would greet everyone who installs from source.
    handle(level === 'warn' ? 'error' : level, log);
  },
};

/**
 * The command line is CommonJS with every dependency inside, split where the source imports dynamically: the ESM
 * loader would make every start slower, and importing node:http as ESM every request.
 */
const commandLine: RolldownOptions = {
  ...shared,
  input: { svc: 'src/process.ts' },
  preserveEntrySignatures: 'allow-extension',
  plugins: [embeddedJq(), embeddedText(), moduleAliases(), lazyModules(), thirdPartyNotices()],
  output: {
    dir: 'dist/cli',
    format: 'cjs',
    cleanDir: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // Node's modules are required too, because the standalone executable has no loader for import().
    dynamicImportInCjs: false,
    minify: true,
    // A stack in a bug report should name our functions.
    keepNames: true,
    codeSplitting: { includeDependenciesRecursively: false, groups: CHUNKS },
  },
};

/** The library leaves its dependencies to the package manager of whoever imports it. */
const library: RolldownOptions = {
  ...shared,
  input: { index: 'src/index.ts' },
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [embeddedText()],
  output: { dir: 'dist/library', format: 'esm', cleanDir: true, chunkFileNames: '[name]-[hash].js' },
};

/** What makes the man pages. The build runs it and keeps only the pages. */
const manual: RolldownOptions = {
  ...shared,
  input: { 'man-pages': './build/man-pages.ts' },
  // No page needs a package.
  external: /^[@#\w][^:]*$/,
  treeshake: false,
  plugins: [embeddedText()],
  output: { format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
};

export default defineConfig([commandLine, library, manual]);

const ALIASED: readonly Alias[] = [
  {
    // The index of undici also loads fetch, WebSocket, caches and mocks, longer than a request takes.
    module: 'undici',
    importer: /[\\/]src[\\/]/,
    code: `
      export { default as Client } from 'undici/lib/dispatcher/client.js';
      export { default as buildConnector } from 'undici/lib/core/connect.js';`,
  },
  {
    // undici loads HTTP/2 with its client, and svc never negotiates HTTP/2.
    module: './client-h2.js',
    importer: /[\\/]undici[\\/]/,
    code: 'export {};',
  },
  {
    // undici asks Node's HTTP module only for the largest head of a response, which an option of Node changes, and whether a
    // body is one of its messages, which no body of svc is.
    module: 'node:http',
    importer: /[\\/]undici[\\/]/,
    code: `
      const options = [process.env.NODE_OPTIONS, ...process.execArgv].join(' ');
      const isChanged = /max.http.header.size/.test(options);
      export const maxHeaderSize = isChanged ? process.getBuiltinModule('node:http').maxHeaderSize : 16 * 1024;
      export class IncomingMessage {}`,
  },
  {
    // commander starts programs for subcommands that are programs, of which svc has none. It loads
    // Node's network modules too.
    module: 'node:child_process',
    importer: /[\\/]commander[\\/]/,
    code: 'export {};',
  },
];

interface Alias {
  readonly module: string;
  readonly importer: RegExp;
  readonly code: string;
}

/** Replaces the modules above. An alias that no import matches, after an update of its package, fails the build. */
function moduleAliases(): Plugin {
  // The names of files are made of the ids of modules.
  const idOf = ({ module }: Alias): string => `\0alias-${module.replaceAll(/\W+/g, '-')}`;
  const matched = new Set<Alias>();
  return {
    name: 'module-aliases',
    resolveId(source, importer = '') {
      const alias = ALIASED.find(({ module, importer: who }) => module === source && who.test(importer));
      if (!alias) return undefined;
      matched.add(alias);
      return { id: idOf(alias), moduleSideEffects: false };
    },
    load(id) {
      return ALIASED.find((alias) => idOf(alias) === id)?.code;
    },
    buildEnd(error) {
      if (error) return;
      for (const alias of ALIASED)
        if (!matched.has(alias))
          this.error(`no import of ${alias.module} matches its alias in build/rolldown.config.ts`);
    },
  };
}

/** Writes THIRD-PARTY-NOTICES.txt, because the licenses of the bundled packages must accompany their code. */
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
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const text = readdirSync(directory).find((file) => /^licen[cs]e/i.test(file));
  const terms = text === undefined ? '' : `\n\n${readFileSync(join(directory, text), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})${terms}`;
}
