// Builds dist/cli and dist/library with rolldown's programming interface: its command line prints a line for each of
// a hundred chunks, which `npm ci` would show to everyone who installs.
import { rmSync } from 'node:fs';

// Types of files that were moved or removed would be packed with the others.
rmSync('dist/types', { recursive: true, force: true });

const { rolldown, loadConfig } = await loadBundler();

for (const { output, ...input } of [await loadConfig('rolldown.config.ts')].flat()) {
  const bundle = await rolldown(input);
  await bundle.write(output);
  await bundle.close();
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
