// Builds dist: the command line, the library and its types, and the man pages. It uses rolldown's programming interface,
// because its command line prints a line for each of a hundred chunks, which `npm ci` would show to everyone who installs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

// Types of files that were moved or removed would be packed with the others.
rmSync('dist/types', { recursive: true, force: true });
mkdirSync('dist', { recursive: true });

const { rolldown, loadConfig } = await loadBundler();
const [commandLine, library, manual] = await loadConfig('build/rolldown.config.ts');

await Promise.all([writeTypes(), bundle(commandLine), bundle(library), writeManual()]);

async function writeTypes() {
  const compiler = 'node_modules/typescript/bin/tsc';
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck'], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}

async function bundle({ output, ...input }) {
  const bundled = await rolldown(input);
  await bundled.write(output);
  await bundled.close();
}

/** Writes the man pages. Node 20 runs no TypeScript, so what makes them is bundled into a temporary directory first. */
async function writeManual() {
  const directory = mkdtempSync('dist/man-pages-');
  try {
    await bundle({ ...manual, output: { ...manual.output, dir: directory } });
    const { manPages } = await import(pathToFileURL(resolve(directory, 'man-pages.mjs')).href);
    rmSync('dist/man', { recursive: true, force: true });
    mkdirSync('dist/man', { recursive: true });
    for (const [name, text] of await manPages()) writeFileSync(join('dist/man', name), text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Imports the bundler. As a development dependency, it is missing from a clone in which nothing was installed yet. */
async function loadBundler() {
  try {
    const [{ rolldown }, { loadConfig }] = await Promise.all([import('rolldown'), import('rolldown/config')]);
    return { rolldown, loadConfig };
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error("svc: run 'npm ci' first: it installs what the build needs");
    process.exit(1);
  }
}
