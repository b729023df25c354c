import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';
import { embeddedJq, jqDirectory } from './embed-jq.config.ts';
import { embeddedText } from './embed-text.config.ts';
import { lazyModules } from './lazy-modules.config.ts';
import manifest from './package.json' with { type: 'json' };

/**
 * Groups of modules that most commands load together, each bundled into one file. A separate file for each module would
 * take 0.3 ms to find, read and compile: together a fifth of the time of TAB.
 */
const LOADED_TOGETHER = [
  chunk(
    'start',
    // The errors are included, so that a command that can open no more files can still report that.
    /base.errors|cli.app.(command|global-parameters|paging|parameter|topics|typed-path|value-parsers)|tree|cli.config.values/,
    /cli.output.(text|time)/,
  ),
  chunk('complete', /general.completion.(bash|bash-line|complete|shell|shells|walk)/),
  chunk('command', /cli.app.(hint|print)|base.json.(exact|source)|cli.output.(formats|view)|base.security.card-number/),
  chunk(
    'run',
    /cli.app.(context|execute|service|trace)|cli.config.(config-file|json-text|keys|settings)|base.security.redact/,
    /cli.output.(error-report|live-line|messages|progress|prompt|terminal)/,
  ),
  chunk('files', /cli.config.paths|base.files.(directory|draft|durable|names|read|target)|schema.(address|json-value)/),
  chunk('logs', /logs.(commands.list|entry-filter|filter|near-ids|options|view)|schema.log-fields/),
  chunk('list', /logs.(list-report|list-steadily|malformed-entries|read-list)/),
  chunk(
    'client',
    /client.api.(any-endpoint|client|logs|pages|resources)|cli.app.rate-ledger/,
    /client.http.(core|exchange|pacer|receiver|request|response|retry)/,
  ),
  chunk('schemas', /schema.(response|tenant)/),
  // Only machines without SIMD instructions use this parser.
  { name: 'parser', test: /llhttp-wasm[.]js$/ },
];

function chunk(name: string, ...modules: RegExp[]): { name: string; test: RegExp } {
  const paths = modules.map(({ source }) => source).join('|');
  return { name, test: new RegExp(`[\\\\/]src[\\\\/](${paths})[.]ts$`) };
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
 * The command line is CommonJS with every dependency inside, split where the source imports dynamically: on Node 20
 * the ESM loader alone costs a start 4 ms of 22, and on later ones importing node:http as ESM costs 30 ms more.
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
    codeSplitting: { includeDependenciesRecursively: false, groups: LOADED_TOGETHER },
  },
};

/** The library leaves its dependencies to the package manager of whoever imports it. */
const library: RolldownOptions = {
  ...shared,
  input: { index: 'src/index.ts' },
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  output: { dir: 'dist/library', format: 'esm', cleanDir: true, chunkFileNames: '[name]-[hash].js' },
};

export default defineConfig([commandLine, library]);

const ALIASED: readonly Alias[] = [
  {
    // The index of undici also loads fetch, WebSocket, caches and mocks: 52 to 59 ms of each request on Node 20, and 39
    // to 45 ms on Node 24.
    module: 'undici',
    importer: /[\\/]src[\\/]/,
    code: `
      export { default as Client } from 'undici/lib/dispatcher/client.js';
      export { default as buildConnector } from 'undici/lib/core/connect.js';`,
  },
  {
    // undici loads HTTP/2 with its client, and svc never negotiates HTTP/2: 12 ms of each request.
    module: './client-h2.js',
    importer: /[\\/]undici[\\/]/,
    code: 'export {};',
  },
];

interface Alias {
  readonly module: string;
  readonly importer: RegExp;
  readonly code: string;
}

/** Replaces the two modules above. An alias that no import matches, after an update of undici, fails the build. */
function moduleAliases(): Plugin {
  const prefix = '\0alias:';
  const matched = new Set<Alias>();
  return {
    name: 'module-aliases',
    resolveId(source, importer = '') {
      const alias = ALIASED.find(({ module, importer: who }) => module === source && who.test(importer));
      if (!alias) return undefined;
      matched.add(alias);
      return { id: prefix + alias.module, moduleSideEffects: false };
    },
    load(id) {
      return ALIASED.find(({ module }) => id === prefix + module)?.code;
    },
    buildEnd(error) {
      if (error) return;
      for (const alias of ALIASED)
        if (!matched.has(alias)) this.error(`no import of ${alias.module} matches its alias in rolldown.config.ts`);
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
