import { defineConfig, type RolldownOptions } from 'rolldown';
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
