import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';
import { ERROR, TYPE } from 'undici/lib/llhttp/constants.js';
import { embeddedJq, jqDirectory } from './embed-jq.config.ts';
import { embeddedText } from './embed-text.config.ts';
import manifest from './package.json' with { type: 'json' };

/**
 * Modules that most commands load, by what they serve: to find, read and compile a file for each takes 0.3 ms, a fifth of
 * what TAB costs.
 */
const LOADED_TOGETHER = [
  chunk('start', /app.(command|parameter|topics)|commands.tree|config.values|output.(text|time)/),
  chunk('complete', /completion.(bash|complete|shells|walk)/),
  chunk('command', /app.(hint|print)|json.(exact|source)|output.(formats|view)|security.card-number/),
  chunk(
    'run',
    /app.(context|execute)|config.(config-file|json-text|keys|settings)|security.redact/,
    /output.(error-report|live-line|messages|progress|prompt|terminal)/,
  ),
  chunk('files', /config.paths|files.(directory|draft|path)|schema.(address|json-value)/),
  chunk('logs', /commands.logs.(entries|list)|schema.log-fields/),
  chunk(
    'client',
    /api.(any-endpoint|client|logs|pages|resources)|app.shared-logs/,
    /http.(core|exchange|pacer|receiver|request|response|retry)/,
  ),
  chunk('schemas', /schema.(response|tenant)/),
  // Of machines without SIMD instructions.
  { name: 'parser', test: /llhttp-wasm[.]js$/ },
];

function chunk(name: string, ...modules: RegExp[]): { name: string; test: RegExp } {
  const paths = modules.map(({ source }) => source).join('|');
  return { name, test: new RegExp(`[\\\\/]src[\\\\/](${paths})[.]ts$`) };
}

const shared: RolldownOptions = {
  platform: 'node',
  transform: { target: 'node20.19', define: { SVC_VERSION: JSON.stringify(manifest.version) } },
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
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    embeddedJq(),
    embeddedText(),
    moduleAliases(),
    builtinsWhereUsed(),
    chunksWhereUsed(),
    chunksKept(),
    thirdPartyNotices(),
  ],
  output: {
    dir: 'dist/cli',
    format: 'cjs',
    cleanDir: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // A module of Node's by require as well: the standalone executable has no loader for import().
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

const UNDICI = /[\\/]undici[\\/]/;

/**
 * What is loaded in place of a module, and for whom. test/project/aliases.test.ts fails when one of these no longer
 * applies; the gains are milliseconds of one command on Node 20.
 */
const ALIASES = [
  {
    // The package's index loads fetch, WebSocket, caches and mocks as well: 82 ms of a request's 205.
    module: 'undici',
    importer: /[\\/]src[\\/]/,
    code: `
      export { default as Client } from 'undici/lib/dispatcher/client.js';
      export { default as buildConnector } from 'undici/lib/core/connect.js';`,
  },
  {
    // For servers that speak HTTP/2, which is never negotiated: 8 ms.
    module: './client-h2.js',
    importer: UNDICI,
    code: 'export {};',
  },
  {
    // For bodies that are forms: 90 kB.
    module: '../web/fetch/body.js',
    importer: UNDICI,
    code: 'export {};',
  },
  {
    // For the largest head of a response, which is Node's default here, and for streams of its own client: 3 ms.
    module: 'node:http',
    importer: UNDICI,
    code: 'module.exports = { maxHeaderSize: 16384 };',
  },
  {
    // For its own mistakes: 1 ms.
    module: 'node:assert',
    importer: UNDICI,
    code: `module.exports = (isTrue, message) => isTrue || require('node:assert').fail(message);`,
  },
  {
    // For what the parser's numbers mean, which it computes with many tables: 1 ms.
    module: '../llhttp/constants.js',
    importer: UNDICI,
    code: `module.exports = ${JSON.stringify({ ERROR, TYPE })};`,
  },
  {
    // For subcommands that are executables of their own, which we do not have: 2 ms.
    module: 'node:child_process',
    importer: /[\\/]commander[\\/]/,
    code: 'export {};',
  },
];

const LOADED_BY_NODE = new Set(
  ['buffer', 'events', 'fs', 'path', 'process', 'timers', 'url'].map((name) => `node:${name}`),
);

function moduleAliases(): Plugin {
  const prefix = '\0alias:';
  return {
    name: 'module-aliases',
    resolveId(source, importer = '') {
      const alias = ALIASES.find(({ module, importer: who }) => module === source && who.test(importer));
      return alias && { id: prefix + alias.module, moduleSideEffects: false };
    },
    load(id) {
      return ALIASES.find(({ module }) => id === prefix + module)?.code;
    },
  };
}

/**
 * Loads a module of Node's where it is used, not where it is imported, unless Node has loaded it by then anyhow: a short
 * command uses few of them, and crypto, fs/promises and child_process cost 2 to 4 ms each. And the copy goes that a default
 * import makes of a module: its hundred members in each of fifty chunks are 3 ms.
 */
function builtinsWhereUsed(): Plugin {
  return {
    name: 'builtins-where-used',
    renderChunk(code) {
      const imports = [...code.matchAll(/^let (node_\w+) = require\("(node:[\w/]+)"\);\n/gm)];
      return imports.reduce((text, [statement, name = '', module = '']) => {
        const copy = new RegExp(`^${name} = .*\\n`, 'm');
        const rest = text.replace(copy, '').replaceAll(new RegExp(`\\b${name}\\.default\\b`, 'g'), name);
        if (LOADED_BY_NODE.has(module)) return rest;
        // In parentheses: a name may stand behind `new`.
        const use = `(require("${module}"))`;
        return rest.replace(statement, '').replaceAll(new RegExp(`\\b${name}\\b`, 'g'), use);
      }, code);
    },
  };
}

/**
 * Loads a chunk where something of it is first used, not where it is imported: help and TAB read what a command declares,
 * not what it runs. The two that every start has loaded stay as they are.
 */
function chunksWhereUsed(): Plugin {
  return {
    name: 'chunks-where-used',
    renderChunk(code) {
      const imports = [
        ...code.matchAll(/^const (require_[\w$]+) = (require\("\.\/(?!svc\.cjs"|rolldown-runtime)[^"]+"\));\n/gm),
      ];
      if (imports.length === 0) return code;
      const helper = 'const whenUsed = (load) => { let loaded; return () => (loaded ??= load()); };\n';
      return imports.reduce((text, [statement, name = '', load = '']) => {
        const use = new RegExp(`\\b${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g');
        const rest = text.replace(statement, '').replaceAll(use, () => `(${name}())`);
        return rest.replace(helper, () => `${helper}const ${name} = whenUsed(() => ${load});\n`);
      }, helper + code);
    },
  };
}

/**
 * A command that runs for longer may load a chunk when an upgrade has taken its file away: it keeps the text of all (2.7 MB
 * in 15 ms), and Node remembers what it once resolved. Inside an executable `require` is not Node's, and the files stay.
 */
function chunksKept(): Plugin {
  const afterHalfASecond = `
    if (require.extensions) setTimeout(() => {
      const { readdirSync, readFileSync } = require('node:fs');
      try {
        const names = readdirSync(__dirname).filter((name) => name.endsWith('.cjs'));
        const kept = new Map(names.map((name) => require.resolve('./' + name)).map((file) => [file, readFileSync(file)]));
        require.extensions['.cjs'] = (module, file) => module._compile(String(kept.get(file)), file);
      } catch {}
    }, 500).unref();\n`;
  return { name: 'chunks-kept', renderChunk: (code, { isEntry }) => (isEntry ? code + afterHalfASecond : code) };
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
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const text = readdirSync(directory).find((file) => /^licen[cs]e/i.test(file));
  const terms = text === undefined ? '' : `\n\n${readFileSync(join(directory, text), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})${terms}`;
}
